package fhir

import (
	"slices"
	"strings"
	"unicode/utf8"

	"anodyne.example/anodyne/internal/pain"
	"anodyne.example/anodyne/internal/pain/dictionary"
	"anodyne.example/anodyne/internal/pain/drug"
)

// The limits of texts that others write longer than package pain takes. What
// is longer is kept as received.
const (
	longestLabel = 50
	longestName  = 200
)

// prescribed is a medication being read.
type prescribed struct {
	*incoming
	medicine   dictionary.Medicine
	extensions []Extension
}

func readMedicationRequest(in *incoming) {
	var r MedicationRequest
	if !in.decode(&r) {
		return
	}
	in.draft.DataType = pain.TypeMedications
	if r.DoNotPerform {
		in.refuse(NotSupported, "doNotPerform", "A request not to give a medicine is not a medication record.")
	}
	switch r.Intent {
	case "order", "original-order", "reflex-order", "filler-order", "instance-order", "plan":
	default:
		in.refuse(NotSupported, "intent", "Only orders and plans are accepted, not proposals and options.")
	}
	p := prescribed{incoming: in, extensions: r.Extension}
	p.readMedicine(r.MedicationCodeableConcept, r.MedicationReference)
	p.readMedicationStatus(r.Status)
	in.readCommon(r.Identifier, r.Subject, "subject", r.Encounter, references(r.Recorder), "recorder", r.Note)
	if r.StatusReason != nil {
		in.setText("stop_reason", r.StatusReason.words(), "statusReason")
	}
	p.readReasons(r.ReasonCode, r.ReasonReference)
	if r.Requester != nil {
		p.readParty("prescriber_id", &r.Requester.Reference, "requester")
	}
	p.readDosages(r.DosageInstruction, "dosageInstruction")
	start := p.readBounds(r.DosageInstruction, r.AuthoredOn)
	if r.AuthoredOn != "" {
		in.readMoment(r.AuthoredOn, "authoredOn")
	} else if start != "" {
		in.readMoment(start, "dosageInstruction[0].timing.repeat.boundsPeriod.start")
	} else {
		in.refuse(Required, "authoredOn", "The time of the request is required.")
	}
	p.readDispense(r.DispenseRequest)
	p.readStop()
	in.readExtensions(r.Extension)
}

func readMedicationStatement(in *incoming) {
	var r MedicationStatement
	if !in.decode(&r) {
		return
	}
	in.draft.DataType = pain.TypeMedications
	p := prescribed{incoming: in, extensions: r.Extension}
	p.readMedicine(r.MedicationCodeableConcept, r.MedicationReference)
	if r.Status == "not-taken" || r.Status == "intended" {
		in.refuse(NotSupported, "status", "A medicine that is not taken is not a medication record.")
	} else {
		p.readMedicationStatus(r.Status)
	}
	in.readCommon(r.Identifier, r.Subject, "subject", r.Context, references(r.InformationSource), "informationSource", r.Note)
	in.setText("stop_reason", words(r.StatusReason), "statusReason")
	p.readReasons(r.ReasonCode, r.ReasonReference)
	p.readDosages(r.Dosage, "dosage")
	if r.EffectivePeriod != nil {
		p.readDay("start_date", r.EffectivePeriod.Start, "effectivePeriod.start")
		p.readDay("end_date", r.EffectivePeriod.End, "effectivePeriod.end")
	}
	switch {
	case r.DateAsserted != "":
		in.readMoment(r.DateAsserted, "dateAsserted")
	case r.EffectiveDateTime != "":
		in.readMoment(r.EffectiveDateTime, "effectiveDateTime")
	case r.EffectivePeriod != nil && r.EffectivePeriod.Start != "":
		in.readMoment(r.EffectivePeriod.Start, "effectivePeriod.start")
	default:
		in.refuse(Required, "dateAsserted", "The time of the statement is required.")
	}
	p.readStop()
	in.readExtensions(r.Extension)
}

// readMedicine takes the name and the codes, and looks the medicine up.
func (p *prescribed) readMedicine(concept *CodeableConcept, reference *Reference) {
	query := dictionary.Query{}
	switch {
	case concept != nil:
		at := "medicationCodeableConcept"
		if query.RxNorm = concept.code(rxNorm); query.RxNorm != "" {
			p.setText("rxnorm_code", query.RxNorm, at+".coding")
		}
		if code := concept.code(ndcSystem); isNDC(code) {
			query.NDC = code
			p.setText("ndc", code, at+".coding")
		}
		query.Name = concept.name()
		if query.Name == "" {
			query.Name = dictionary.Find(query).Product.Name
		}
		if query.Name == "" {
			p.refuse(Required, at+".text", "The name of the medicine is required, as text or as the display of a code.")
		}
		p.setText("name", shorten(query.Name, query.RxNorm != ""), at)
	case reference != nil && reference.Display != "" && !strings.HasPrefix(reference.Reference, "#"):
		query.Name = oneLine(reference.Display)
		p.setText("name", query.Name, "medicationReference.display")
	default:
		p.refuse(NotSupported, "medicationReference", "A medicine in another resource is not supported without its name; send medicationCodeableConcept, or the display of the reference.")
	}
	p.medicine = dictionary.Find(query)
}

// shorten cuts a name that is too long, if a code identifies the medicine.
func shorten(name string, coded bool) string {
	if !coded || utf8.RuneCountInString(name) <= longestName {
		return name
	}
	return strings.TrimSpace(string([]rune(name)[:longestName-1])) + "…"
}

func isNDC(code string) bool {
	digits := strings.Count(code, "-")
	return len(code) == 11 && digits == 0 || digits == 2
}

// isOpioid reports whether the dictionary knows the medicine as an opioid.
func (p *prescribed) isOpioid() bool { return p.medicine.Understood && p.medicine.Class == drug.Opioid }

// readMedicationStatus takes the status of the medicine, and that of the
// record. They are one element; see medicationStatus.
func (p *prescribed) readMedicationStatus(status string) {
	stated, at := p.extension("medications", "status")
	record, _ := p.extension("record", "status")
	inError := status == "entered-in-error"
	switch {
	case inError && (stated != "entered-in-error" || record == "entered-in-error"):
		p.draft.Status = pain.EnteredInError
	case record == "amended":
		p.draft.Status = pain.Amended
	}
	switch {
	case stated != "" && (inError || status == "unknown"):
		p.setText("status", stated, at)
	case status != "unknown" && !inError:
		p.setText("status", status, "status")
	default:
		p.draft.from("value.status", p.at("status"))
	}
}

// extension returns the text of one of our extensions and its path.
func (p *prescribed) extension(owner, field string) (text, at string) {
	return p.extensionOf(p.extensions, owner, field)
}

func (in *incoming) extensionOf(list []Extension, owner, field string) (text, at string) {
	url := in.m.extensionURL(owner, field)
	for i := range list {
		if list[i].URL == url {
			text, _ = list[i].text()
			if text == "" {
				text = string(list[i].ValueDecimal)
			}
			return text, "extension" + index(i)
		}
	}
	return "", ""
}

// readStop takes the day on which a stop was recorded, which is the only derived
// value that cannot be derived again: it depends on when the record was written.
func (p *prescribed) readStop() {
	url := p.m.extensionURL("medications", "derived")
	for i := range p.extensions {
		if p.extensions[i].URL != url {
			continue
		}
		p.draft.HasStop = true
		for _, e := range p.extensions[i].Extension {
			if e.URL == "stop_recorded_on" {
				on, err := pain.ParseDate(e.ValueDate)
				p.draft.Stop, p.draft.HasStop = on, err == nil
			}
		}
	}
}

// readReasons takes the indication from all reasons with words.
func (p *prescribed) readReasons(codes []CodeableConcept, list []Reference) {
	text, at := words(codes), "reasonCode"
	if text == "" {
		var names []string
		for i := range list {
			if list[i].Display != "" {
				names = append(names, list[i].Display)
			}
		}
		text, at = strings.Join(names, "; "), "reasonReference"
	}
	p.setText("indication", text, at)
}

// readDispense takes what was dispensed.
func (p *prescribed) readDispense(d *DispenseRequest) {
	if d == nil {
		return
	}
	if d.Quantity != nil {
		p.readQuantity(d.Quantity)
	}
	if d.ExpectedSupplyDuration != nil {
		p.readSupply(d.ExpectedSupplyDuration)
	}
	if d.Performer != nil {
		p.readParty("pharmacy_id", d.Performer, "dispenseRequest.performer")
	}
}

// readQuantity takes the number of units dispensed. A quantity in other units,
// such as grams of a cream, is kept as received, except for opioids, whose
// dose it would change.
func (p *prescribed) readQuantity(q *Quantity) {
	const at = "dispenseRequest.quantity"
	if q.Value == "" || q.Comparator != "" {
		p.refuse(NotSupported, at, "The quantity must be a number, without a comparator.")
		return
	}
	if unit, ok := unitOrEach(q); ok && (unit == "" || slices.Contains(counted, doseCode(unit))) {
		p.setNumber("quantity", q.Value, at+".value")
	} else if p.isOpioid() {
		p.refuse(CodeInvalid, at+".code", "The quantity of an opioid must be in units of the product, such as {tablet} or {patch}, or in mL.")
	}
}

func (p *prescribed) readSupply(q *Quantity) {
	const at = "dispenseRequest.expectedSupplyDuration"
	switch unit := strings.TrimSuffix(q.unit(), "s"); {
	case q.Value == "" || q.Comparator != "":
		p.refuse(NotSupported, at, "The duration must be a number, without a comparator.")
	case unit == "d" || unit == "day":
		p.setNumber("days_supply", q.Value, at+".value")
	case unit == "wk" || unit == "week":
		p.setNumber("days_supply", times(q.Value, 7, 1), at+".value")
	case unit == "h" || unit == "hour":
		p.setNumber("days_supply", times(q.Value, 1, 24), at+".value")
	default:
		p.refuse(CodeInvalid, at+".code", "The unit of the duration must be d, wk or h.")
	}
}

// readDay takes a date. The time of day is not used.
func (p *prescribed) readDay(name, text, at string) {
	const day = len("YYYY-MM-DD")
	if text == "" {
		return
	}
	if len(text) < day {
		p.refuse(Value, at, "The date must have year, month and day.")
		return
	}
	p.setText(name, text[:day], at)
}

func references(one *Reference) []Reference {
	if one == nil {
		return nil
	}
	return []Reference{*one}
}

// readParty takes what identifies somebody: the identifier, or the id in the
// reference.
func (p *prescribed) readParty(name string, r *Reference, at string) {
	switch {
	case r.Identifier != nil && r.Identifier.Value != "":
		p.setText(name, r.Identifier.Value, at+".identifier.value")
	case strings.HasPrefix(r.Reference, "#"):
		p.refuse(NotSupported, at+".reference", "A contained resource is not supported here; refer to it by an identifier.")
	default:
		text := r.Reference[strings.LastIndexAny(r.Reference, "/|=")+1:]
		p.setText(name, strings.TrimPrefix(text, "urn:uuid:"), at+".reference")
	}
}

// name returns the text of a concept, or else the display of an RxNorm code or
// of any other.
func (c *CodeableConcept) name() string {
	name := oneLine(c.Text)
	for _, coding := range c.Coding {
		if name == "" && coding.System == rxNorm {
			name = oneLine(coding.Display)
		}
	}
	if name == "" {
		name = c.words()
	}
	return name
}

// words returns the text of a concept, or else the first display of a code.
func (c *CodeableConcept) words() string {
	if text := oneLine(c.Text); text != "" {
		return text
	}
	for _, coding := range c.Coding {
		if display := oneLine(coding.Display); display != "" {
			return display
		}
	}
	return ""
}

// oneLine returns a text without line breaks and tabs.
func oneLine(s string) string {
	if strings.ContainsAny(s, "\r\n\t") {
		s = strings.Join(strings.Fields(s), " ")
	}
	return strings.TrimSpace(s)
}

// words joins the words of concepts.
func words(list []CodeableConcept) string {
	var all []string
	for i := range list {
		if text := list[i].words(); text != "" {
			all = append(all, text)
		}
	}
	return strings.Join(all, "; ")
}
