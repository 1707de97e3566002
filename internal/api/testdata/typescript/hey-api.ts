import { client } from './generated/hey-api/client.gen';
import { addClinicalData, createPatient, listClinicalData } from './generated/hey-api/sdk.gen';
import type { ClinicalRecordCreate } from './generated/hey-api/types.gen';

client.setConfig({ baseUrl: process.env.ANODYNE_URL, auth: () => process.env.ANODYNE_TOKEN });

async function main() {
  const patient = await createPatient({ body: { name: 'Arlo Finch', date_of_birth: '1968-04-02' } });
  if (!patient.data) throw new Error(patient.error.error.message);
  const path = { id: patient.data.id };
  const added = await addClinicalData({ path, body: { data_type: 'pain_scores', value: { score: 7 } } });
  if (!added.data) throw new Error(added.error.error.message);
  if ('data' in added.data) throw new Error('one record was added');

  const listed = await listClinicalData({ path });
  if (!listed.data) throw new Error(listed.error.error.message);
  for (const record of listed.data.data) {
    if (record.data_type === 'pain_scores') {
      const score: number = record.value.score;
      const severity: 'none' | 'mild' | 'moderate' | 'severe' = record.value.derived.severity;
      // @ts-expect-error: a pain score has no hours of sleep
      record.value.hours;
      console.log(score, severity);
    }
    // @ts-expect-error: only some types have a score
    record.value.score;
  }
}

// @ts-expect-error: the value is not that of the type
export const misfit: ClinicalRecordCreate = { data_type: 'sleep', value: { score: 7 } };
// @ts-expect-error: the scale does not exist
export const misspelt: ClinicalRecordCreate = { data_type: 'pain_scores', value: { score: 7, scale: 'nsr' } };

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
