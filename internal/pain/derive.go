package pain

// Derivation is the version of the rules by which values are derived. It goes
// up whenever a stored value would be understood differently than before, or the
// packed form of series changes: the store then derives all of them again.
const Derivation = 4

// DerivedOf is what is stored as derived from a medication, as it is.
func DerivedOf(stored Value) (MedicationDerived, error) {
	v, err := medications.decode(stored)
	return v.Derived, err
}

// Rederived is a stored value of a medication with what today's rules derive
// and the organisation's aliases derive from it, and whether that differs; on
// is the day of the record. The error says that what is stored is no
// medication.
func Rederived(stored Value, on Date, aliases *Aliases) (_ Value, differs bool, _ error) {
	v, err := medications.decode(stored)
	if err != nil {
		return stored, false, err
	}
	v.Derived = MedicationDerived{StopRecordedOn: v.Derived.StopRecordedOn} // no rule makes it
	v.understood = v.understand(aliases)
	deriveMedication(&v, on)
	now := Value{string(appendMembers(nil, medications.members, &v))}
	return now, now != stored, nil
}
