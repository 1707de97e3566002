// Package dictionary knows medicines by the codes and names under which the
// world writes them: RxNorm codes of any kind, package codes (NDC), and names
// as people type them, with brand, salt, strength and form inside. It answers
// what is in a medicine, of which class and strength, and how it was
// understood. What it does not understand it says; it never guesses, and a
// near miss in spelling is only suggested.
//
// The data files are in data. The generator writes them from a release of
// RxNorm; extra.tsv, names.tsv and the classes in ingredients.tsv are written
// by hand. docs/medicines.md says how to bring in a new release. Factors and
// doses are the business of package drug, which stands below.
package dictionary

//go:generate go run ./generate -rrf rrf -release $RXNORM_RELEASE

// Release is the date of the RxNorm release in the data files.
const Release = "2025-10-06"

// Sources says where the data come from, for whoever shows them.
func Sources() []string {
	return []string{
		"RxNorm, Current Prescribable Content of " + Release + ", courtesy of the U.S. National Library of Medicine (NLM), which does not endorse or recommend this product",
		"Opioid products that RxNorm no longer lists as prescribable: Opioid Management Terminology Knowledge Base (OMTK) of 2020-10-20",
		"Other retired products: value sets of CDC's opioid decision support of 2025-02",
		"Names of other countries, abbreviations and classes: written by hand for this service",
	}
}
