// Package dictionary identifies medicines by codes and names: RxNorm codes of
// any kind, package codes (NDC), and names as people type them, including
// brand, salt, strength and form. It returns the ingredients, class and
// strength of a medicine, and how it was understood. It never guesses: what it
// does not understand is reported, and similar names are only suggested.
//
// The data files are in data. The generator writes them from an RxNorm
// release; extra.tsv, names.tsv and the classes in ingredients.tsv are
// maintained by hand. docs/medicines.md explains how to import a new release.
// Conversion factors and doses are in package drug.
package dictionary

//go:generate go run ./generate -rrf rrf -release $RXNORM_RELEASE

// Release is the date of the RxNorm release in the data files.
const Release = "2025-10-06"

// Sources returns the sources of the data, for display.
func Sources() []string {
	return []string{
		"RxNorm, Current Prescribable Content of " + Release + ", courtesy of the U.S. National Library of Medicine (NLM), which does not endorse or recommend this product",
		"Opioid products that RxNorm no longer lists as prescribable: Opioid Management Terminology Knowledge Base (OMTK) of 2020-10-20",
		"Other retired products: value sets of CDC's opioid decision support of 2025-02",
		"Names of other countries, abbreviations and classes: written by hand for this service",
	}
}
