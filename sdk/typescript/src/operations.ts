// The named methods: one line for each operation of the API, with the inputs
// that it has besides the path parameters. A test fails if an operation of the
// OpenAPI document is missing; the compiler refuses wrong inputs.

import { call, cursorList, file, pageList } from './methods.js';
import type { Schemas } from './types.js';

interface OneRecord {
  body: Schemas['ClinicalRecordCreate'];
  answer: Schemas['ClinicalRecord'];
}

interface Batch {
  body: Extract<Schemas['ClinicalDataCreate'], { records: unknown }>;
  answer: Schemas['ClinicalRecords'];
}

export const operations = {
  patients: {
    /** Lists patients in order of creation. */
    list: pageList('GET /v1/patients'),
    create: call('POST /v1/patients', 'body'),
    /** Creates the patient with the identifier in `query`, or updates it. */
    upsert: call('PUT /v1/patients', 'body', 'query'),
    get: call('GET /v1/patients/{id}'),
    /** Changes the given fields; null clears one. */
    update: call('PATCH /v1/patients/{id}', 'body'),
    /** Moves all data of a patient to another one. */
    merge: call('POST /v1/patients/{id}/merge', 'body'),
    /** Erases a patient and all data about them, which cannot be undone. */
    erase: call('DELETE /v1/patients/{id}', 'body'),
    /** Pain series, current medications, daily MME and flags as of a day. */
    summary: call('GET /v1/patients/{id}/summary', 'query'),
  },
  clinicalData: {
    /** Lists the records of all patients in order of change; `.pages()` also has the removed patients. */
    changes: cursorList('GET /v1/clinical-data'),
    /** Lists a patient's records by clinical time. */
    list: pageList('GET /v1/patients/{id}/clinical-data'),
    add: call('POST /v1/patients/{id}/clinical-data', 'body').as<OneRecord>(),
    /** Adds up to 1,000 records; all of them or none. */
    addBatch: call('POST /v1/patients/{id}/clinical-data', 'body').as<Batch>(),
    get: call('GET /v1/patients/{id}/clinical-data/{record_id}'),
    /** Replaces a record, or marks it as entered in error, and returns the record that is now in force. */
    correct: call('POST /v1/patients/{id}/clinical-data/{record_id}/corrections', 'body'),
    /** A record with those that it corrects and that correct it, oldest first. */
    history: call('GET /v1/patients/{id}/clinical-data/{record_id}/corrections'),
  },
  cohorts: {
    list: pageList('GET /v1/cohorts'),
    /** Saves a list of patients or filters under a name. */
    create: call('POST /v1/cohorts', 'body'),
    get: call('GET /v1/cohorts/{id}'),
    delete: call('DELETE /v1/cohorts/{id}'),
  },
  reports: {
    list: pageList('GET /v1/reports'),
    /** Requests a report, which is generated in the background; see `waitForReport`. */
    create: call('POST /v1/reports', 'body'),
    get: call('GET /v1/reports/{id}'),
    delete: call('DELETE /v1/reports/{id}'),
    /** Downloads the file of a completed report as a stream. */
    download: file('GET /v1/reports/{id}/download'),
  },
  exports: {
    list: pageList('GET /v1/exports'),
    /** Requests an export, which is generated in the background. */
    create: call('POST /v1/exports', 'body'),
    get: call('GET /v1/exports/{id}'),
    delete: call('DELETE /v1/exports/{id}'),
    /** Downloads a file of a completed export as a stream. */
    download: file('GET /v1/exports/{id}/files/{name}'),
  },
  reference: {
    dataTypes: call('GET /v1/reference/data-types'),
    instruments: call('GET /v1/reference/instruments'),
    medications: call('GET /v1/reference/medications'),
    /** How a medicine is recognised, by name or code. */
    lookUpMedication: call('GET /v1/reference/medications/lookup', 'query'),
  },
  aliases: {
    list: pageList('GET /v1/reference/medications/aliases'),
    create: call('POST /v1/reference/medications/aliases', 'body'),
    get: call('GET /v1/reference/medications/aliases/{id}'),
    update: call('PATCH /v1/reference/medications/aliases/{id}', 'body'),
    delete: call('DELETE /v1/reference/medications/aliases/{id}'),
  },
  analytics: {
    outcomes: call('GET /v1/analytics/outcomes', 'query'),
    populationHealth: call('GET /v1/analytics/population-health', 'query'),
  },
  events: {
    /** Reads the event log; see also `followEvents`. */
    list: cursorList('GET /v1/events'),
  },
  webhooks: {
    list: pageList('GET /v1/webhooks'),
    create: call('POST /v1/webhooks', 'body'),
    get: call('GET /v1/webhooks/{id}'),
    update: call('PATCH /v1/webhooks/{id}', 'body'),
    delete: call('DELETE /v1/webhooks/{id}'),
    /** Returns a new secret. For 24 hours, messages are signed with the old one too. */
    rotateSecret: call('POST /v1/webhooks/{id}/rotate-secret', 'body'),
    /** Sends a test event. */
    test: call('POST /v1/webhooks/{id}/test', 'body'),
    /** Sends all events since a time that were not delivered. */
    recover: call('POST /v1/webhooks/{id}/recover', 'body'),
    stats: call('GET /v1/webhooks/{id}/stats'),
    /** Lists deliveries, newest first. */
    deliveries: cursorList('GET /v1/webhooks/{id}/deliveries'),
    delivery: call('GET /v1/webhooks/{id}/deliveries/{delivery_id}'),
    redeliver: call('POST /v1/webhooks/{id}/deliveries/{delivery_id}/redeliver', 'body'),
  },
  audit: {
    /** One page of the audit log. Every read adds an entry, so the log has no end to iterate to: pass `next_cursor` as `after`. */
    list: call('GET /v1/audit', 'query'),
  },
  oauth: {
    /** Requests a token. You rarely need it, because calls get a token automatically. */
    createToken: call('POST /oauth/token', 'body'),
    revoke: call('POST /oauth/revoke', 'body'),
    introspect: call('POST /oauth/introspect', 'body'),
    metadata: call('GET /.well-known/oauth-authorization-server'),
    smartConfiguration: call('GET /.well-known/smart-configuration'),
    fhirSmartConfiguration: call('GET /fhir/R4/.well-known/smart-configuration'),
  },
  service: {
    health: call('GET /healthz'),
    readiness: call('GET /readyz'),
    openapi: call('GET /openapi.json'),
    openapiYaml: call('GET /openapi.yaml'),
  },
};
