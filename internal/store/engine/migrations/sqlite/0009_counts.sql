-- How many records a patient has by day, type and whether they stand, so that
-- the total of a list costs the same for ten records and for a million. A period
-- is 128 days, counted from 0001-01-01. Counts are pairs of a slot and a number,
-- in order of the slots: day of the period * 32 + type * 2, and 1 more when the
-- records do not stand.
CREATE TABLE record_count (
    org_no     INTEGER NOT NULL,
    patient_no INTEGER NOT NULL,
    period     INTEGER NOT NULL,
    counts     TEXT NOT NULL,
    PRIMARY KEY (org_no, patient_no, period)
) WITHOUT ROWID;

INSERT INTO record_count (org_no, patient_no, period, counts)
SELECT org_no, patient_no, period, string_agg(CAST(slot AS TEXT) || ' ' || CAST(n AS TEXT), ' ' ORDER BY slot) FROM (
    SELECT org_no, patient_no, day / 128 AS period, day % 128 * 32 + data_type * 2 + CASE WHEN status > 1 THEN 1 ELSE 0 END AS slot, count(*) AS n FROM (
        SELECT org_no, patient_no, data_type, status, (recorded_at + 62135596800000) / 86400000 AS day FROM clinical_record) AS dated
    GROUP BY org_no, patient_no, day / 128, day % 128 * 32 + data_type * 2 + CASE WHEN status > 1 THEN 1 ELSE 0 END) AS counted
GROUP BY org_no, patient_no, period;

-- A correction is found by what it corrects.
CREATE INDEX clinical_record_corrects ON clinical_record (org_no, corrects) WHERE corrects IS NOT NULL;
