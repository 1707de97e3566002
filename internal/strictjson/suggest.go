package strictjson

import "strings"

// maxSuggested is the maximum length in bytes of a word for which a suggestion
// is computed; no known name is longer.
const maxSuggested = 64

// Suggest returns the known name that word was probably meant to be, or "".
// Case, "_" and "-" are ignored; beyond that, up to two letters may be wrong,
// missing, added or swapped (one in a word of up to four letters). The first
// of equally near names wins.
func Suggest(word string, known []string) string {
	if len(word) > maxSuggested {
		return ""
	}
	word = bare(word)
	limit := 2
	if len(word) <= 4 {
		limit = 1
	}
	best := ""
	for _, name := range known {
		if d := distance(word, bare(name), limit); d <= limit {
			best, limit = name, d-1
		}
	}
	return best
}

var separators = strings.NewReplacer("_", "", "-", "")

func bare(name string) string { return separators.Replace(strings.ToLower(name)) }

// distance returns the number of edits, where swapping two neighbours is one
// edit, or limit+1 if it exceeds limit.
func distance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit || len(b) > maxSuggested {
		return limit + 1
	}
	var before, previous, current [maxSuggested + 1]int
	for j := range len(b) + 1 {
		previous[j] = j
	}
	for i := 1; i <= len(a); i++ {
		current[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			current[j] = min(previous[j]+1, current[j-1]+1, previous[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				current[j] = min(current[j], before[j-2]+1)
			}
		}
		before, previous = previous, current
	}
	return min(previous[len(b)], limit+1)
}
