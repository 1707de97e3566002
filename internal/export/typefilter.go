package export

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"anodyne.example/anodyne/internal/fhir"
	"anodyne.example/anodyne/internal/fhir/search"
)

// typeFilters are the searches of a resource type, one of which a resource must
// match.
type typeFilters map[string][]search.Query

// TypeFilterProblem returns what is wrong with a type filter, such as
// Observation?code=72514-3; "" if nothing is. A condition on the patient of a
// resource is not supported, because it would have to be read for each.
func TypeFilterProblem(text string) string {
	_, problem := parseTypeFilters([]string{text})
	return problem
}

func parseTypeFilters(list []string) (_ typeFilters, problem string) {
	all := typeFilters{}
	for _, text := range list {
		resourceType, query, _ := strings.Cut(text, "?")
		values, err := url.ParseQuery(query)
		if err != nil || len(values) == 0 || !slices.Contains(search.Types(), resourceType) {
			return nil, fmt.Sprintf("A type filter must be a search such as Observation?code=72514-3, of one of the types %s.", strings.Join(search.Types(), ", "))
		}
		q := search.Query{Type: resourceType}
		for name, texts := range values {
			for _, one := range texts {
				if err := q.Add(name, one, ""); err != nil {
					return nil, fmt.Sprintf("The parameter %s of a type filter %s", err.Parameter, err.Text)
				}
			}
		}
		if len(q.OfPatient) > 0 {
			return nil, fmt.Sprintf("A type filter must not have conditions on the patient of %s.", resourceType)
		}
		all[resourceType] = append(all[resourceType], q)
	}
	return all, ""
}

// match reports whether a resource matches one of the searches of its type, or
// there is none.
func (f typeFilters) match(r *fhir.Resource) bool {
	queries := f[r.Type]
	if len(queries) == 0 {
		return true
	}
	var resource map[string]any
	if err := json.Unmarshal(r.JSON, &resource); err != nil {
		return false
	}
	return slices.ContainsFunc(queries, func(q search.Query) bool { return q.Matches(resource) })
}
