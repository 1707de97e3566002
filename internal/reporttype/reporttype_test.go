package reporttype

import "testing"

func TestEveryTypeIsDeclaredWhole(t *testing.T) {
	t.Parallel()
	for i, d := range All() {
		if d.Type == "" || d.Title == "" || d.Scopes == 0 || d.Takes == 0 || d.Client == "" || d.Schema == "" || d.Doc == "" || d.Tables == "" {
			t.Errorf("something is missing: %+v", d)
		}
		if found, ok := Of(d.Type); !ok || found != d || d.Type.Code() != int64(i) || Types()[i] != d.Type {
			t.Errorf("%s is not found at %d", d.Type, i)
		}
	}
	if _, ok := Of("new_type"); ok || Type("new_type").Code() != -1 {
		t.Error("a type that is not declared is found")
	}
}
