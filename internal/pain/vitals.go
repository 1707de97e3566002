package pain

// Vitals are vital signs, weight and height.
type Vitals struct {
	Systolic        Number
	Diastolic       Number
	HeartRate       Number
	RespiratoryRate Number
	SpO2            Number
	TemperatureC    Number
	WeightKg        Number
	HeightCm        Number
}

var vitalSigns = kind[Vitals]{
	optional: true,
	members: []member[Vitals]{
		number("systolic", func(v *Vitals) *Number { return &v.Systolic }, between(40, 300).in("mm[Hg]")),
		number("diastolic", func(v *Vitals) *Number { return &v.Diastolic }, between(20, 200).in("mm[Hg]")),
		number("heart_rate", func(v *Vitals) *Number { return &v.HeartRate }, between(20, 300).in("/min")),
		number("respiratory_rate", func(v *Vitals) *Number { return &v.RespiratoryRate }, between(2, 80).in("/min")),
		number("spo2", func(v *Vitals) *Number { return &v.SpO2 }, between(50, 100).in("%")),
		number("temperature_c", func(v *Vitals) *Number { return &v.TemperatureC }, between(30, 45).in("Cel")),
		number("weight_kg", func(v *Vitals) *Number { return &v.WeightKg }, between(1, 500).in("kg")),
		number("height_cm", func(v *Vitals) *Number { return &v.HeightCm }, between(30, 250).in("cm")),
	},
	check: func(v *Vitals, r *reading) {
		high, okHigh := v.Systolic.Get()
		low, okLow := v.Diastolic.Get()
		if okHigh && okLow && low >= high {
			r.Fault("diastolic", "must be below systolic.")
		}
	},
}
