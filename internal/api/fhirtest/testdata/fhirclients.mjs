// Uses two FHIR clients from npm, as published, the way their documentation
// does: fhir-kit-client and fhirclient. Arguments: base URL of the service,
// access token, and name of the client.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { Client } from 'fhir-kit-client'

const [base, token, which] = process.argv.slice(2)
const fhir = `${base}/fhir/R4`
const mrn = 'http://north.example/mrn'

const patient = (family, value) => ({
  resourceType: 'Patient', identifier: [{ system: mrn, value }], name: [{ family, given: ['Ada'] }], gender: 'female', birthDate: '1968-04-02',
})
const score = (subject, value) => ({
  resourceType: 'Observation', status: 'final', subject: { reference: subject }, effectiveDateTime: '2026-01-10T09:00:00Z',
  category: [{ coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'survey' }] }],
  code: { coding: [{ system: 'http://loinc.org', code: '72514-3' }] },
  valueQuantity: { value, unit: '{score}', system: 'http://unitsofmeasure.org', code: '{score}' },
})
const entry = (fullUrl, resource, method, url) => ({ fullUrl, resource, request: { method, url } })
const transaction = (family, value) => ({
  resourceType: 'Bundle', type: 'transaction', entry: [
    entry('urn:uuid:7f1c2a5e-4e7e-4c68-9d0c-1d7a3a9f5c01', patient(family, value), 'POST', 'Patient'),
    entry('urn:uuid:7f1c2a5e-4e7e-4c68-9d0c-1d7a3a9f5c02', score('urn:uuid:7f1c2a5e-4e7e-4c68-9d0c-1d7a3a9f5c01', 4), 'POST', 'Observation'),
  ],
})

async function kit() {
  const client = new Client({ baseUrl: fhir, bearerToken: token })
  const statement = await client.capabilityStatement()
  assert.equal(statement.fhirVersion, '4.0.1')
  // The client asks for both and takes whichever arrives first.
  for (const missing of ['smart-configuration', 'metadata']) {
    const fetch = globalThis.fetch
    globalThis.fetch = (url, init) => String(url.url ?? url).endsWith(missing) ? Promise.reject(new Error(`no ${missing}`)) : fetch(url, init)
    const smart = await client.smartAuthMetadata().finally(() => { globalThis.fetch = fetch })
    assert.equal(String(smart.tokenUrl), `${base}/oauth/token`, `without ${missing}`)
  }

  const ids = []
  for (let i = 0; i < 5; i++) {
    const made = await client.create({ resourceType: 'Patient', body: patient(`Kit${i}`, `kit-${i}`) })
    assert.equal(made.resourceType, 'Patient')
    ids.push(made.id)
  }
  const read = await client.read({ resourceType: 'Patient', id: ids[0] })
  assert.equal(read.name[0].family, 'Kit0')

  let seen = []
  let bundle = await client.search({ resourceType: 'Patient', searchParams: { _count: '2' } })
  for (let pages = 0; bundle; pages++) {
    assert.ok(pages < 20, 'paging does not end')
    seen.push(...(bundle.entry ?? []).map((e) => e.resource.id))
    bundle = await client.nextPage({ bundle })
  }
  assert.deepEqual(new Set(seen), new Set(ids))
  assert.equal(seen.length, ids.length)
  const found = await client.search({ resourceType: 'Patient', searchParams: { identifier: `${mrn}|kit-3` } })
  assert.deepEqual(found.entry.map((e) => e.resource.id), [ids[3]])
  const posted = await client.search({ resourceType: 'Patient', searchParams: { identifier: `${mrn}|kit-4` }, options: { postSearch: true } })
  assert.deepEqual(posted.entry.map((e) => e.resource.id), [ids[4]])

  read.name = [{ family: 'Changed', given: ['Ada'] }]
  const changed = await client.update({ resourceType: 'Patient', id: ids[0], body: read })
  assert.equal(changed.name[0].family, 'Changed')
  const conditional = await client.update({ resourceType: 'Patient', searchParams: { identifier: `${mrn}|kit-1` }, body: patient('Again', 'kit-1') })
  assert.equal(conditional.id, ids[1])

  const made = await client.create({ resourceType: 'Observation', body: score(`Patient/${ids[0]}`, 7) })
  made.valueQuantity.value = 6
  const corrected = await client.update({ resourceType: 'Observation', id: made.id, body: made })
  assert.equal(corrected.meta.versionId, '2')
  const old = await client.vread({ resourceType: 'Observation', id: made.id, version: '1' })
  assert.equal(old.valueQuantity.value, 7)
  const history = await client.history({ resourceType: 'Observation', id: made.id })
  assert.equal(history.entry.length, 2)
  const everything = await client.operation({ name: '$everything', resourceType: 'Patient', id: ids[0], method: 'GET' })
  assert.ok(everything.entry.some((e) => e.resource.id === made.id))

  const answer = await client.transaction({ body: transaction('Transacted', 'kit-tx') })
  assert.equal(answer.type, 'transaction-response')
  assert.deepEqual(answer.entry.map((e) => e.response.status.slice(0, 3)), ['201', '201'])
  await assert.rejects(client.read({ resourceType: 'Patient', id: 'nobody' }), (e) => e.response.status === 404)
}

async function smart() {
  const fhirclient = createRequire(import.meta.url)('fhirclient')
  const client = fhirclient({}, {}, {}).client({ serverUrl: fhir, tokenResponse: { access_token: token, token_type: 'Bearer' } })
  assert.equal(await client.getFhirRelease(), 4)
  const ids = []
  for (let i = 0; i < 5; i++) ids.push((await client.create(patient(`Smart${i}`, `smart-${i}`))).id)
  const pages = await client.request(`Patient?_count=2`, { pageLimit: 0, flat: true })
  assert.deepEqual(new Set(pages.map((p) => p.id)), new Set(ids))
  const found = await client.request(`Patient?identifier=${encodeURIComponent(`${mrn}|smart-2`)}`, { flat: true })
  assert.deepEqual(found.map((p) => p.id), [ids[2]])
  const made = await client.create(score(`Patient/${ids[0]}`, 3))
  const resolved = await client.request(`Observation/${made.id}`, { resolveReferences: 'subject' })
  assert.equal(resolved.subject.id, ids[0])
  const changed = await client.update({ ...patient('Changed', 'smart-0'), id: ids[0] })
  assert.equal(changed.name[0].family, 'Changed')
  const answer = await client.request({ url: fhir, method: 'POST', body: JSON.stringify(transaction('Transacted', 'smart-tx')), headers: { 'Content-Type': 'application/fhir+json' } })
  assert.equal(answer.entry.length, 2)
  await assert.rejects(client.request('Patient/nobody'), /404|not found/i)
}

await { kit, smart }[which]()
console.log('ok')
