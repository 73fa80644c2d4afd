/**
 * @typedef {object} TestReport what the test runner wrote; empty where it died before it wrote anything
 * @property {number} [numPassedTests]
 * @property {number} [numFailedTests]
 * @property {number} [numPendingTests]
 * @property {number} [numTodoTests]
 * @property {{ status: string, assertionResults: unknown[] }[]} [testResults]
 */

/**
 * Counts for the closing line. A file that could not even be loaded has no tests to fail, so it counts as one.
 * @param {TestReport} report
 */
export function countTests(report) {
  const broken = (report.testResults ?? []).filter(
    file => file.status === 'failed' && file.assertionResults.length === 0,
  );
  return {
    passed: report.numPassedTests ?? 0,
    failed: (report.numFailedTests ?? 0) + broken.length,
    skipped: (report.numPendingTests ?? 0) + (report.numTodoTests ?? 0),
  };
}
