-- Exports are kept with the reports, as report type 100: one queue, one way of
-- claiming, one expiry. All files of an export are one sequence of chunks, and
-- files is a JSON list of where each begins. A packed chunk is compressed.
ALTER TABLE report ADD COLUMN files TEXT NOT NULL DEFAULT '';
ALTER TABLE report_chunk ADD COLUMN packed INTEGER NOT NULL DEFAULT 0;

-- Lists of reports skip exports without reading their rows.
DROP INDEX report_by_status;
CREATE INDEX report_by_status ON report (org_no, status, report_no, report_type);
