package pain

// Derivation is the version of the derivation rules. It is increased whenever
// a stored value would be interpreted differently, or the packed form of
// series changes; the store then re-derives all values.
const Derivation = 4

// DerivedOf returns the derived part of a stored medication, unchanged.
func DerivedOf(stored Value) (MedicationDerived, error) {
	v, err := medications.decode(stored)
	return v.Derived, err
}

// Rederived returns a stored medication with the values that the current rules
// and the organisation's aliases derive, and whether they differ. on is the
// day of the record. It returns an error if the stored value is not a
// medication.
func Rederived(stored Value, on Date, aliases *Aliases) (_ Value, differs bool, _ error) {
	v, err := medications.decode(stored)
	if err != nil {
		return stored, false, err
	}
	v.Derived = MedicationDerived{StopRecordedOn: v.Derived.StopRecordedOn} // not derived by any rule
	v.understood = v.understand(aliases)
	deriveMedication(&v, on)
	now := Value{string(appendMembers(nil, medications.members, &v))}
	return now, now != stored, nil
}
