-- How patients stand who ever had an opioid or a benzodiazepine: what was
-- alerted and holds, up to which day that is judged, and the next day on which
-- a prescription begins. Days are counted from 1970-01-01.
CREATE TABLE alert_state (
    org_no     BIGINT NOT NULL,
    patient_no BIGINT NOT NULL,
    day        BIGINT NOT NULL,
    level      BIGINT NOT NULL,
    overlap    BIGINT NOT NULL,
    next_day   BIGINT,
    PRIMARY KEY (org_no, patient_no)
);
CREATE INDEX alert_state_next ON alert_state (next_day, org_no, patient_no) WHERE next_day IS NOT NULL;
CREATE INDEX alert_state_day ON alert_state (day, org_no, patient_no);

-- Patients with medications (data_type 2) that are there already are due.
INSERT INTO alert_state (org_no, patient_no, day, level, overlap, next_day)
SELECT DISTINCT org_no, patient_no, 0, 0, 0, 0 FROM clinical_record WHERE data_type = 2 AND status <= 1;

-- Which thresholds of which window of a client were alerted: 1 is 80 %, 2 is 100 %.
ALTER TABLE rate_window ADD COLUMN warned_end BIGINT NOT NULL DEFAULT 0;
ALTER TABLE rate_window ADD COLUMN warned BIGINT NOT NULL DEFAULT 0;
