package dictionary

import "strings"

// role is the role of a word that is not a name.
type role uint8

const (
	noRole  role = iota
	salt         // hydrochloride
	shape        // tablet, ER, oral: see form
	counted      // tablets, days: the preceding number is a count, not a strength
	unit         // mg
	noise        // does not describe the content
	before       // qty, take: the following number is a count
	deny         // the medicine is not taken, or no medicine is meant
	either       // or: ambiguous
)

// word is an entry of the lexicon.
type word struct {
	role role
	form form
	// Of a unit: its size.
	size    float64
	measure measure
}

// lexicon has the words used in prescriptions. Names take precedence over it.
// It excludes words that may stand for an ingredient: AC is "before meals" and
// "with codeine", and Forte and Plus are brands with codeine in some
// countries.
var lexicon = makeLexicon()

func makeLexicon() map[string]word {
	l := make(map[string]word, 700)
	add := func(w word, words string) {
		for text := range strings.FieldsSeq(words) {
			if _, twice := l[text]; !twice { // the first one wins
				l[text] = w
			}
		}
	}
	shaped := func(f form, words string) { add(word{role: shape, form: f}, words) }
	count := func(f form, words string) { add(word{role: counted, form: f}, words) }

	add(word{role: salt}, `hydrochloride hcl hci hydrobromide hbr chloride bromide sulfate sulphate sulf sul so4 phosphate phosphat phos
		bitartrate bitart bit tartrate tart citrate cit maleate mal mesylate mesilate mesylat acetate succinate fumarate gluconate besylate besilate
		tosylate napsylate hyclate monohydrate dihydrate hemihydrate anhydrous sodium natrium na potassium kalium k calcium magnesium dipotassium
		polistirex terephthalate salicylate carbonate nitrate oxalate lactate malate pamoate tannate base hydrochlorid hydrochlorure
		clorhidrato cloridrato chlorhydrate sulfato sulfat sulfaat fosfato fosfaat epolamine tromethamine lysine hydrat enacarbil hydrogentartrat`)

	count(form{kind: tablet}, `tab tabs tablet tablets tbl tablette tabletten tabletter tableta tabletas comprimido comprimidos comprime comprimes compresse compressa cp cpr cpx caplet caplets filmtabletten filmtabletter`)
	count(form{kind: capsule}, `cap caps capsule capsules kapsel kapseln kapsler capsula capsulas gelule gelules softgel softgels`)
	count(form{kind: patch}, `patch patches pflaster parche parches plaster`)
	count(form{kind: film}, `film films strip strips`)
	count(form{kind: lozenge}, `lozenge lozenges lollipop troche troches`)
	count(form{kind: suppository, route: "rectal"}, `supp supps suppository suppositories zapfchen supositorio`)
	count(form{}, `pill pills dose doses ampoule ampoules ampule ampules unitdose stk stuck dragee dragees day days d week weeks wk wks month months mo
		tage refill refills bottle bottles box boxes pack packs pkg times sprays puff puffs drop drops gtt gtts`)
	shaped(form{kind: liquid}, `solution soln sol liquid liq elixir elix syrup syr suspension susp tropfen gotas losung jarabe sirop concentrate conc intensol oralsolution`)
	shaped(form{kind: injection}, `injection inj injectable vial vials syringe prefilled cartridge carpuject pca infusion injektion inyectable`)
	shaped(form{kind: spray}, `spray`)
	shaped(form{kind: topical, route: "topical"}, `cream crm gel ointment oint lotion`)
	shaped(form{route: "topical"}, `topical topically top medicated`)
	shaped(form{kind: patch, route: "transdermal"}, `transdermal td transdermaal tts matrixpflaster`)
	shaped(form{release: extended}, `er xr sr cr xl la cd xt extended sustained controlled prolonged slow retard retardtabletten retardkapseln lp prolongatum depot mr modified contin`)
	shaped(form{release: immediate}, `ir immediate`)
	shaped(form{release: delayed}, `dr ec delayed enteric coated gastroresistant msr`)
	shaped(form{solves: true}, `odt disintegrating dispersible soluble chewable chew chewtab effervescent eff melt orodispersible schmelztabletten`)
	shaped(form{route: "oral"}, `oral orally po mouth peroral`)
	shaped(form{route: "sublingual"}, `sublingual sl`)
	shaped(form{route: "buccal"}, `buccal`)
	shaped(form{route: "nasal"}, `nasal intranasal`)
	shaped(form{route: "rectal"}, `rectal pr rectally`)
	shaped(form{route: "injection"}, `iv im sc subq subcut subcutaneous intravenous intramuscular ivp ivpb`)
	shaped(form{route: "intrathecal"}, `intrathecal pump`)
	shaped(form{route: "epidural"}, `epidural`)
	shaped(form{route: "ophthalmic"}, `ophthalmic ophth eye`)

	mass := func(size float64, words string) { add(word{role: unit, size: size, measure: milligrams}, words) }
	mass(1, `mg mgs milligram milligrams milligramm miligramos`)
	mass(0.001, `mcg mcgs ug microgram micrograms mikrogramm microgramos mgc`)
	mass(1000, `g gm gms gr gram grams gramm`)
	add(word{role: unit, size: 1, measure: units}, `unit units iu unt unts ie ui`)
	add(word{role: unit, size: 1, measure: equivalents}, `meq`)
	add(word{role: unit, size: 1, measure: percent}, `% percent pct`)
	add(word{role: unit, measure: otherMeasure}, `ml mls cc milliliter milliliters millilitre millilitres h hr hrs hour hours std stunden actuat actuation actuations kg l oz min mins minute minutes`)

	add(word{role: before}, `qty quantity disp dispense take x sig supply`)
	add(word{role: noise}, `a an the of for to in by and with w e y und et con mit med
		generic brand name only daw rx otc usp nf bp ph eur release rel acting action system delivery osmotic matrix 
		abuse deterrent preservative pf strength str extra double full half regular ii iii cii ciii civ cv schedule
		medication medicine med drug drugs analgesic opioid narcotic pain killer relief reliever
		prn needed as every each q qd od qod qam qpm qhs hs bid tid qid bd tds qds nocte mane daily once twice three four nightly bedtime morning evening night noon am
		weekly hourly per at up maximum then until breakthrough severe moderate mild chronic acute back
		adult adults pediatric children childrens kids infant
		metered granules granule bead powder oil foam inhaler inhalant dry inhalation gas pen auto injector jet insert implant enema wafer gum chewing paste toothpaste
		mouthwash soap bar shampoo pad swab tape douche irrigation otic vaginal mucosal mucous membrane intrauterine intravesical intratracheal intraperitoneal
		pyelocalyceal liquefied pellet sprinkle sprinkles biphasic breath actuated dosing bx rating smoking cessation sensor augmented microencapsulated
		atrial fibrillation shortage import unapproved use kit cfc hfa
		teva sandoz mylan actavis apotex accord ratiopharm stada hexal aurobindo zentiva krka winthrop sanofi pfizer novartis bayer roche
		mallinckrodt rhodes purdue hikma amneal lannett sun camber lupin cipla zydus glenmark viatris almus aristo heumann aliud abz betapharm
		mundipharma grunenthal napp wockhardt ranbaxy watson qualitest roxane westward endo alvogen kvk epic ascend
		new current home start started continue taking takes taken long short lipid based flavor flavored cherry mint sugar`)
	add(word{role: deny}, `no not non never none nil without wo allergy allergic allergies allergie intolerance intolerant intolerances stopped stop stopping
		discontinued discontinue dc dcd dced ceased denies denied deny avoid avoids avoided refused refuses declined former formerly previous previously
		past history hx old off hold held tapered weaned contraindicated contraindication reaction adverse screen screening test tested testing urine
		uds negative positive level levels antidote antagonist withdrawal overdose addiction addict dependence misuse disorder agreement contract
		instead replaced replacing failed unable cannot cant dont doesnt didnt isnt wont wasnt placebo free unknown maybe possibly perhaps suspected question rather than equivalent equivalents kein keine nicht ohne
		allergisch sin pas sans ei ikke nie senza niente`)
	add(word{role: either}, `or vs versus either oder ou o`)
	return l
}

// commonBrands are brands that are also plain English. They are only
// recognised with a strength.
var commonBrands = func() map[string]bool {
	set := map[string]bool{}
	for _, name := range []string{"align", "perform", "rid", "stye", "soma", "active q", "deep sea", "my choice", "my way", "new day",
		"take action", "option 2", "morning after", "perfect choice", "free and clear", "her style", "simply sleep", "sea soft", "cool bottoms",
		"doctors choice", "kids choice", "the magic bullet", "fast freeze", "freeze it", "eye stream", "triple paste", "correct new formula",
		"nice", "alli", "ella", "breo", "baza"} {
		set[name] = true
	}
	delete(set, "soma") // mainly known as a medicine
	return set
}()
