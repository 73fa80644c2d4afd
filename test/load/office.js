// A one-page Word document.
import { clients, duration, handleSummary, office, thresholds } from './platen.js';

export { handleSummary };
export const options = { vus: clients(4), duration, thresholds: thresholds({ office: 4000 }) };
export default office;
