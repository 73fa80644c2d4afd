// A small page with a style sheet, from as many clients as the service has lanes.
import { clients, duration, handleSummary, html, thresholds } from './platen.js';

export { handleSummary };
export const options = { vus: clients(4), duration, thresholds: thresholds({ html: 3000 }) };
export default html;
