import { addClinicalData, createPatient, listClinicalData } from './generated/orval';
import type { ClinicalRecordCreate } from './generated/orval';

const options = { headers: { Authorization: `Bearer ${process.env.ANODYNE_TOKEN}` } };

async function main() {
  const patient = await createPatient({ name: 'Arlo Finch', date_of_birth: '1968-04-02' }, options);
  if (patient.status !== 201) throw new Error(patient.data.error.message);
  const id = patient.data.id;
  const added = await addClinicalData(id, { data_type: 'pain_scores', value: { score: 7 } }, options);
  if (added.status !== 201) throw new Error(added.data.error.message);
  if ('data' in added.data) throw new Error('one record was added');

  const listed = await listClinicalData(id, {}, options);
  if (listed.status !== 200) throw new Error(listed.data.error.message);
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
