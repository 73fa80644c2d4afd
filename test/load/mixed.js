// All three kinds of work at once, from clients of their own: what an application's day looks like.
import { clients, duration, handleSummary, html, merge, office, thresholds } from './platen.js';

const vus = clients(2);
const scenario = exec => ({ executor: 'constant-vus', vus, duration, exec });

export { handleSummary, html, merge, office };
export const options = {
  scenarios: { html: scenario('html'), office: scenario('office'), merge: scenario('merge') },
  thresholds: thresholds({ html: 4000, office: 4000, merge: 2000 }),
};
