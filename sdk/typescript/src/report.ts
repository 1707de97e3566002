import { AnodyneError } from './errors.js';
import { sleep } from './retry.js';
import type { Schemas } from './types.js';

type Report = Schemas['Report'];

/** The report could not be generated; `report.error` says why. */
export class ReportFailedError extends AnodyneError {
  constructor(readonly report: Report) {
    super(`the report could not be made: ${report.error}`);
  }
}

const firstPause = 100;
const maxPause = 2_000;

/** Polls a report until it is neither pending nor processing. */
export async function waitForReport(get: () => Promise<Report>, signal: AbortSignal | undefined): Promise<Report> {
  for (let pause = firstPause; ; pause = Math.min(2 * pause, maxPause)) {
    const report = await get();
    if (report.status === 'failed') throw new ReportFailedError(report);
    if (report.status !== 'pending' && report.status !== 'processing') return report;
    await sleep(pause, signal);
  }
}
