package portal

import (
	"strings"
	"testing"
)

func TestPasswordHash(t *testing.T) {
	fullCost(t)
	kept := HashPassword("correct horse battery")
	if !strings.HasPrefix(kept, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("kept as %s", kept)
	}
	if !passwordMatches(kept, "correct horse battery") {
		t.Error("the password does not match its hash")
	}
	if HashPassword("correct horse battery") == kept {
		t.Error("two hashes of one password are equal: there is no salt")
	}
	for _, wrong := range []string{"", "Correct horse battery", "correct horse battery "} {
		if passwordMatches(kept, wrong) {
			t.Errorf("%q matches", wrong)
		}
	}
}

// A failed sign-in takes equally long whether or not the member exists.
func TestNobodyCostsAsMuch(t *testing.T) {
	if c, _, _, err := readHash(programNobody); err != nil || c != programCost {
		t.Errorf("%q is of the cost %+v, not %+v: %v", programNobody, c, programCost, err)
	}
}

func TestDamagedHashesMatchNothing(t *testing.T) {
	fullCost(t)
	good := HashPassword("correct horse battery")
	for _, kept := range []string{
		"", "$", "plain", nobody, strings.Replace(good, "argon2id", "argon2i", 1), strings.Replace(good, "v=19", "v=18", 1),
		strings.Replace(good, "t=2", "t=0", 1), strings.Replace(good, "p=1", "p=0", 1), good[:len(good)-2], good + "$", strings.Replace(good, "m=19456", "m=x", 1),
	} {
		if passwordMatches(kept, "correct horse battery") {
			t.Errorf("%q matches", kept)
		}
	}
}

func TestCheckPassword(t *testing.T) {
	for password, fine := range map[string]bool{
		"correct horse battery":       true,
		"Ключ от двери 7":             true,
		"short":                       false,
		"elevenchars":                 false,
		"aaaaaaaaaaaaaaaa":            false,
		"ada.lovelace@clinic.example": false,
		"ada.lovelace1":               false,
		"123456789012":                false,
		"qwertyuiopasdfgh":            false,
		"password12345":               false,
		strings.Repeat("ab ", 80):     false,
		"bad\xffutf-8 password":       false,
	} {
		if said := CheckPassword(password, "ada.lovelace@clinic.example", "Ada Lovelace"); (said == "") != fine {
			t.Errorf("%q: %q", password, said)
		}
	}
}
