package drug

// The names and versions of the tables, as used in derived values.
const (
	MMETable       = "CDC 2022"
	LegacyMMETable = "CDC 2018 research file"
)

// The sources of the rows.
const (
	cdc2022 = "CDC Clinical Practice Guideline 2022, table of conversion factors; RxNorm codes of CDC's opioid decision support 3.0.0"
	cdc2018 = "CDC research file of conversion factors; not in the 2022 table"
	cpic    = "RxNorm code as in the CPIC drug list"
	public  = "RxNorm code as seen in public code"
	general = "general knowledge"
)

// ingredients are all known ingredients. Unverified codes are left empty,
// because a wrong code would do more harm.
var ingredients = []Ingredient{
	{Name: "codeine", RxNorm: "2670", ATC: "R05DA04", Class: Opioid, Factor: 0.15, Source: cdc2022},
	{Name: fentanyl, Also: []string{"duragesic"}, RxNorm: "4337", ATC: "N02AB03", Class: Opioid, Factor: 2.4, Source: cdc2022},
	{Name: "hydrocodone", Also: []string{"vicodin", "norco", "lortab"}, RxNorm: "5489", Class: Opioid, Factor: 1.0, Source: cdc2022},
	{Name: "hydromorphone", Also: []string{"dilaudid"}, RxNorm: "3423", ATC: "N02AA03", Class: Opioid, Factor: 5.0, Source: cdc2022},
	{Name: methadone, RxNorm: "6813", ATC: "N07BC02", Class: Opioid, Factor: 4.7, Source: cdc2022},
	{Name: "morphine", RxNorm: "7052", ATC: "N02AA01", Class: Opioid, Factor: 1.0, Source: cdc2022},
	{Name: "oxycodone", Also: []string{"oxycontin", "percocet", "roxicodone"}, RxNorm: "7804", ATC: "N02AA05", Class: Opioid, Factor: 1.5, Source: cdc2022},
	{Name: "oxymorphone", Also: []string{"opana"}, RxNorm: "7814", ATC: "N02AA11", Class: Opioid, Factor: 3.0, Source: cdc2022},
	{Name: "tapentadol", Also: []string{"nucynta"}, RxNorm: "787390", ATC: "N02AX06", Class: Opioid, Factor: 0.4, Source: cdc2022},
	{Name: "tramadol", Also: []string{"ultram"}, RxNorm: "10689", ATC: "N02AX02", Class: Opioid, Factor: 0.2, Source: cdc2022},
	{Name: buprenorphine, Also: []string{"suboxone", "subutex", "butrans", "belbuca"}, RxNorm: "1819", Class: Opioid, Source: cdc2022},
	{Name: "dihydrocodeine", RxNorm: "23088", Class: Opioid, LegacyFactor: 0.25, Source: cdc2018},
	{Name: "meperidine", Also: []string{"pethidine", "demerol"}, RxNorm: "6754", Class: Opioid, LegacyFactor: 0.1, Source: cdc2018},
	{Name: "levorphanol", RxNorm: "6378", Class: Opioid, LegacyFactor: 11, Source: cdc2018},
	{Name: "pentazocine", RxNorm: "8001", Class: Opioid, LegacyFactor: 0.37, Source: cdc2018},
	{Name: "butorphanol", RxNorm: "1841", Class: Opioid, LegacyFactor: 7, Source: cdc2018},

	{Name: "alprazolam", Also: []string{"xanax"}, RxNorm: "596", Class: Benzodiazepine, Source: public},
	{Name: "lorazepam", Also: []string{"ativan"}, RxNorm: "6470", Class: Benzodiazepine, Source: public},
	{Name: "diazepam", Also: []string{"valium"}, RxNorm: "3322", Class: Benzodiazepine, Source: cpic},
	{Name: "clonazepam", Also: []string{"klonopin"}, RxNorm: "2598", ATC: "N03AE01", Class: Benzodiazepine, Source: general},
	{Name: "temazepam", RxNorm: "10355", Class: Benzodiazepine, Source: general},
	{Name: "oxazepam", RxNorm: "7781", Class: Benzodiazepine, Source: cpic},
	{Name: "midazolam", RxNorm: "6960", Class: Benzodiazepine, Source: cpic},
	{Name: "clobazam", RxNorm: "21241", Class: Benzodiazepine, Source: cpic},
	{Name: "chlordiazepoxide", Class: Benzodiazepine, Source: general},
	{Name: "triazolam", Class: Benzodiazepine, Source: general},
	{Name: "clorazepate", Class: Benzodiazepine, Source: general},
	{Name: "estazolam", Class: Benzodiazepine, Source: general},
	{Name: "flurazepam", Class: Benzodiazepine, Source: general},

	{Name: "gabapentin", Also: []string{"neurontin"}, RxNorm: "25480", Class: Gabapentinoid, Source: public},
	{Name: "pregabalin", Also: []string{"lyrica"}, RxNorm: "187832", Class: Gabapentinoid, Source: public},

	{Name: "ibuprofen", RxNorm: "5640", Class: NSAID, Source: public},
	{Name: "naproxen", RxNorm: "7258", Class: NSAID, Source: public},
	{Name: "diclofenac", RxNorm: "3355", Class: NSAID, Source: cpic},
	{Name: "celecoxib", RxNorm: "140587", Class: NSAID, Source: cpic},
	{Name: "meloxicam", RxNorm: "41493", Class: NSAID, Source: general},
	{Name: "ketorolac", RxNorm: "35827", Class: NSAID, Source: general},

	{Name: "amitriptyline", RxNorm: "704", Class: Antidepressant, Source: cpic},
	{Name: "nortriptyline", RxNorm: "7531", Class: Antidepressant, Source: cpic},
	{Name: "duloxetine", RxNorm: "72625", Class: Antidepressant, Source: cpic},
	{Name: "venlafaxine", RxNorm: "39786", Class: Antidepressant, Source: cpic},

	{Name: "carisoprodol", RxNorm: "2101", Class: MuscleRelaxant, Source: cpic},
	{Name: "cyclobenzaprine", Class: MuscleRelaxant, Source: general},
	{Name: "tizanidine", Class: MuscleRelaxant, Source: general},
	{Name: "baclofen", Class: MuscleRelaxant, Source: general},

	{Name: "carbamazepine", RxNorm: "2002", Class: Anticonvulsant, Source: cpic},
	{Name: "topiramate", Class: Anticonvulsant, Source: general},

	{Name: "lidocaine", RxNorm: "6387", Class: Topical, Source: cpic},
	{Name: "capsaicin", Class: Topical, Source: general},

	{Name: Naloxone, Also: []string{"narcan"}, RxNorm: "7242", Class: OpioidAntagonist, Source: general},
	{Name: "acetaminophen", Also: []string{"paracetamol", "apap"}, RxNorm: "161", Class: OtherAnalgesic, Source: general},
}

// Ingredients with special rules.
const (
	Naloxone      = "naloxone"
	buprenorphine = "buprenorphine"
	fentanyl      = "fentanyl"
	methadone     = "methadone"
	levomethadone = "levomethadone" // twice as strong; the factor is that of the racemate
)
