async (baseUrl, token) => {
  const { Anodyne, NotFoundError } = await import('/client/index.js');
  const anodyne = new Anodyne({ baseUrl, token: async () => token });
  const said = [];

  const created = await anodyne.patients.create({ name: 'Ada', date_of_birth: '1984-05-17' });
  const { etag } = await anodyne.request('GET /v1/patients/{id}', { path: { id: created.id } });
  await anodyne.patients.update(created.id, { gender: 'female' }, { ifMatch: etag });
  for await (const patient of anodyne.patients.list()) said.push(patient.name);

  try {
    await anodyne.patients.get('pat_00000000000000000000000000');
  } catch (error) {
    if (error instanceof NotFoundError) said.push(`${error.status} ${error.code} ${error.requestId ? 'with' : 'without'} a request id`);
  }
  said.push(anodyne.rateLimit ? 'allowance known' : 'allowance unknown');

  const report = await anodyne.waitForReport((await anodyne.reports.create({ type: 'population_health', format: 'json' })).id);
  const file = await anodyne.reports.download(report.id);
  const whole = new Uint8Array(await new Response(file.body).arrayBuffer());
  const rest = await anodyne.reports.download(report.id, { offset: 6, etag: file.etag });
  const size = (await new Response(rest.body).arrayBuffer()).byteLength;
  said.push(whole.length === report.size_bytes && size === whole.length - 6 ? '6 bytes and the rest' : `${whole.length} and ${size} bytes`);

  try {
    new Anodyne({ baseUrl, clientId: 'cli_1', clientSecret: 'cs_1' });
  } catch {
    said.push('no secret here');
  }
  return said.join('; ');
}
