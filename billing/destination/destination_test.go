package destination_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"parley/billing"
	"parley/billing/destination"
)

// plan is what each country's numbers are, by example: the table that an update of
// the numbering plans must not change unnoticed.
var plan = []struct {
	region, fixed, mobile string
	refused               string // mobiles that are not called
	special               string // neither landline nor mobile
	invalid               string // no numbers at all
	emergency             string // of emergency services
}{
	{region: "ES", fixed: "+34911234567 +34931234567 +34810123456", mobile: "+34612345678 +34711234567",
		special: "+34900123456 +34803123456 +34902123456 +34901123456 +34701234567 +34512345678", invalid: "+34016 +3491123456",
		emergency: "+34112 +34061 +34085 +34091 +34 (0)92 0034112"},
	{region: "FR", fixed: "+33142685300 +33970123456 +33199001234", mobile: "+33612345678 +33751234567",
		special: "+33800123456 +33899123456 +33884012345 +33806123456", invalid: "+33118218 +3314268530", emergency: "+33112 +3315 +3317 +3318 +33 (0)18"},
	{region: "DE", fixed: "+4930901820 +493023125001 +4932221234567", mobile: "+4915112345678 +4917012345678",
		special: "+498001234567 +499001234567 +491801234567 +491371234567 +491641234567 +4916912345678 +4970012345678",
		invalid: "+491851234567", emergency: "+49110 +49112 +49 (0)110 0049112"},
	{region: "AT", fixed: "+431514440 +43316123456", mobile: "+436641234567",
		special: "+43800123456 +43900123456 +43810123456 +43720123456", emergency: "+43133 +43112 +43144"},
	{region: "GB", fixed: "+442079460018 +441612345678", mobile: "+447400123456",
		special: "+448001234567 +449012345678 +447012345678 +447640123456 +445612345678 +443301234567 +445512345678 +447924123456",
		invalid: "+447700900123 +441632960123", emergency: "+44999 +44112 +44(0)999"},
	{region: "IE", fixed: "+35312345678", mobile: "+353851234567",
		special: "+3531800123456 +3531520123456 +3531850123456 +353818123456 +353700123456 +353761234567"},
	{region: "US", fixed: "+12125551234 +12025550123 +13105550123",
		special: "+18002345678 +18882345678 +19002345678 +15002345678 +12125551212 +13055551212 +12129761234 +17125551234",
		invalid: "+1411 +12121234567", emergency: "+1911 +1112"},
	{region: "CA", fixed: "+14165551234 +16045551234", special: "+16002345678 +13101234 +14165551212", invalid: "+1310"},
	{region: "PT", fixed: "+351211234567", refused: "+351912345678",
		special: "+351800123456 +351760123456 +351707123456 +351301234567 +351308123456"},
	{region: "IT", fixed: "+390612345678 +390212345678", refused: "+393471234567",
		special: "+39800123456 +39899123456 +39892123", invalid: "+39551234567 +39178123456", emergency: "+39112 +39113 +39118"},
	{region: "NL", fixed: "+31201234567", refused: "+31612345678",
		special: "+318001234 +319001234 +31850123456 +31880123456 +3114020", invalid: "+31141234567"},
	{region: "BE", fixed: "+3212345678", refused: "+32470123456", special: "+3280012345 +3290012345", invalid: "+3278123456"},
	{region: "LU", fixed: "+35227123456", refused: "+352621123456", special: "+35280012345 +35290012345 +35220123456"},
	{region: "CH", fixed: "+41441234567", refused: "+41781234567",
		special: "+41800123456 +41900123456 +41840123456 +41581234567", invalid: "+41860123456"},
}

// elsewhere are countries, islands and networks that look like those we serve, or
// that nobody should be able to call at our expense.
const elsewhere = "+447911123456 +447624123456 +447781123456 +441534123456 +447797123456 " + // Guernsey, Man, Jersey
	"+262262123456 +590590201234 +596596301234 +594594101234 " + // French overseas
	"+18762345678 +17872345678 +16712345678 +12423456789 +18092345678 +12684601234 +18682345678 " + // NANP, not US nor CA
	"+390669812345 +3780549886377 +4232345678 +37797123456 +35020012345 " + // Vatican, San Marino, Liechtenstein, Monaco, Gibraltar
	"+881612345678 +882161234567 +870773123456 +80012345678 +979123456789 " + // satellite, free and premium of no country
	"+21671234567 +37123456789 +2522123456 +5352123456 +48123456789"

func TestPlan(t *testing.T) {
	for _, p := range plan {
		for s := range strings.FieldsSeq(p.fixed) {
			accepted(t, s, destination.Class{E164: s, Region: p.region})
		}
		for s := range strings.FieldsSeq(p.mobile) {
			accepted(t, s, destination.Class{E164: s, Region: p.region, Mobile: true})
		}
		for s := range strings.FieldsSeq(p.refused) {
			refused(t, s, destination.ErrMobile)
		}
		for s := range strings.FieldsSeq(p.special) {
			refused(t, s, destination.ErrService)
		}
		for s := range strings.FieldsSeq(p.invalid) {
			refused(t, s, destination.ErrInvalid)
		}
		for s := range strings.FieldsSeq(strings.ReplaceAll(p.emergency, " (0)", "(0)")) {
			refused(t, s, destination.ErrEmergency)
		}
	}
	for s := range strings.FieldsSeq(elsewhere) {
		refused(t, s, destination.ErrCountry)
	}
}

func accepted(t *testing.T, s string, want destination.Class) {
	t.Helper()
	got, err := destination.Classify(s)
	if err != nil || got != want {
		t.Errorf("%s is %+v, %v; want %+v", s, got, err, want)
		return
	}
	if price, err := got.Minute(billing.DefaultRateCard()); err != nil || price <= 0 {
		t.Errorf("%s costs %s, %v", s, price, err)
	}
}

func refused(t *testing.T, s string, want error) {
	t.Helper()
	got, err := destination.Classify(s)
	var e *destination.Error
	if !errors.Is(err, want) || !errors.As(err, &e) || e.Reason == "" || got != (destination.Class{}) {
		t.Errorf("%s is %+v, %v; want it refused: %v", s, got, err, want)
	}
}

// TestNotServed: who may not call a country reads its name, and which are open.
func TestNotServed(t *testing.T) {
	for number, want := range map[string]string{"+447911123456": "Guernsey", "+881612345678": "This network"} {
		if _, err := destination.Classify(number); err == nil || !strings.HasPrefix(err.Error(), want+" is not open for calls. Open: Austria, Belgium, Canada, ") {
			t.Errorf("%s: %v", number, err)
		}
	}
}

// People write numbers in many ways; what is dialled is always the same.
func TestSpelling(t *testing.T) {
	for s, want := range map[string]string{
		"+34 911 23 45 67": "+34911234567", "+34-911-234-567": "+34911234567", "(+34) 911.234.567": "+34911234567",
		"+44 (0)20 7946 0018": "+442079460018", "+39 06 12345678": "+390612345678",
	} {
		if got, err := destination.Classify(s); err != nil || got.E164 != want {
			t.Errorf("%q is %q, %v; want %s", s, got.E164, err, want)
		}
	}
	for _, s := range []string{
		"", "+", "911234567", "0034911234567", "00 34 911 234 567", "34911234567", "+0034911234567", "++34911234567",
		"+34911234567;ext=5", "+34911234567x5", "+34911234567,5", "tel:+34911234567", "sip:+34911234567@example.com",
		"+34911234567\r\n", "+34911234567\n", "+34911234567\x00", "+34/911234567", "+34\u00a0911234567", "+34٩11234567",
		"+３４911234567", "+34 911 234 56a", "+1 (800) FLOWERS", "+34911234567" + strings.Repeat(" ", 80), "+3491123456789012", "+43 (0)1110",
	} {
		refused(t, s, destination.ErrInvalid)
	}
}

// What the overlay denies cannot be reached by writing it with the national 0.
func TestDeniedHoweverWritten(t *testing.T) {
	refused(t, "+44 (0)7924 123456", destination.ErrService)
	refused(t, "+1 212 555-1212", destination.ErrService)
}

// Numbers set aside for fiction reach nobody, so only the simulated carrier takes them.
func TestFiction(t *testing.T) {
	for s, want := range map[string]destination.Class{
		"+44 7700 900123":   {E164: "+447700900123", Region: "GB", Mobile: true},
		"+441632960999":     {E164: "+441632960999", Region: "GB"},
		"+33 6 39 98 12 34": {E164: "+33639981234", Region: "FR", Mobile: true},
	} {
		refused(t, s, destination.ErrInvalid)
		if got, err := destination.ClassifyFictional(s); err != nil || got != want {
			t.Errorf("%s is %+v, %v; want %+v", s, got, err, want)
		}
	}
	for _, s := range []string{"+4477009001234", "+447700901123", "+447911123456", "+447924123456", "+393471234567"} {
		if got, err := destination.ClassifyFictional(s); err == nil {
			t.Errorf("%s is no fiction: %+v", s, got)
		}
	}
	if got, err := destination.ClassifyFictional("+34911234567"); err != nil || got.Region != "ES" {
		t.Errorf("an ordinary number is %+v, %v", got, err)
	}
}

func TestLocal(t *testing.T) {
	if c, err := destination.ClassifyLocal("+442079460018", "GB"); err != nil || c.Region != "GB" {
		t.Errorf("%+v, %v", c, err)
	}
	for _, c := range []struct {
		number, region string
		want           error
	}{
		{"+442079460018", "UK", destination.ErrCountry},
		{"+34911234567", "PT", destination.ErrCountry},
		{"+447400123456", "GB", destination.ErrMobile},
		{"+351912345678", "PT", destination.ErrMobile},
		{"+34900123456", "ES", destination.ErrService},
		{"+447911123456", "GB", destination.ErrCountry},
		{"911234567", "ES", destination.ErrInvalid},
	} {
		if got, err := destination.ClassifyLocal(c.number, c.region); !errors.Is(err, c.want) {
			t.Errorf("%s in %s is %+v, %v; want %v", c.number, c.region, got, err, c.want)
		}
	}
}

// A mobile of the US or Canada pays the landline rate; one elsewhere its own.
func TestPrices(t *testing.T) {
	card := billing.DefaultRateCard()
	for number, terms := range map[string]billing.Terms{
		"+12125551234":   {Kind: billing.Outbound, Country: "US"},
		"+4930901820":    {Kind: billing.Outbound, Country: "DE"},
		"+4915112345678": {Kind: billing.Outbound, Country: "DE", Mobile: true},
	} {
		c, err := destination.Classify(number)
		if err != nil || c.Terms() != terms {
			t.Errorf("%s pays by %+v, %v; want %+v", number, c.Terms(), err, terms)
		}
		tariff, err := card.Tariff(terms)
		if err != nil {
			t.Fatal(err)
		}
		if price, err := c.Minute(card); err != nil || price != tariff.LineMinute() {
			t.Errorf("%s costs %s, %v; want %s", number, price, err, tariff.LineMinute())
		}
	}
	if _, err := (destination.Class{E164: "+351912345678", Region: "PT", Mobile: true}).Minute(card); !errors.Is(err, billing.ErrNoPrice) {
		t.Errorf("a destination that the card does not sell: %v", err)
	}
}

var dialled = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)

func FuzzClassify(f *testing.F) {
	for _, p := range plan {
		for s := range strings.FieldsSeq(strings.Join([]string{p.fixed, p.mobile, p.refused, p.special, p.invalid}, " ")) {
			f.Add(s)
		}
	}
	f.Add("+44 (0)20 7946 0018")
	f.Add("+34911234567;ext=5")
	f.Fuzz(func(t *testing.T, s string) { sound(t, s) })
}

// sound holds what Classify says of any text to what must hold for all.
func sound(t interface{ Fatalf(string, ...any) }, s string) {
	c, err := destination.Classify(s)
	if err != nil {
		var e *destination.Error
		if !errors.As(err, &e) {
			t.Fatalf("%q: %v has no reason", s, err)
		}
		return
	}
	if !dialled.MatchString(c.E164) {
		t.Fatalf("%q would be dialled as %q", s, c.E164)
	}
	if again, err := destination.Classify(c.E164); err != nil || again != c {
		t.Fatalf("%q is %+v, and then %+v, %v", s, c, again, err)
	}
	if _, err := c.Minute(billing.DefaultRateCard()); err != nil {
		t.Fatalf("%q has no price: %v", s, err)
	}
	for p := range strings.FieldsSeq(dear) {
		if strings.HasPrefix(c.E164, p) {
			t.Fatalf("%q begins with %s and would be called as %+v", s, p, c)
		}
	}
}

// dear are beginnings under which no ordinary number lies, as the authorities publish
// them: premium and shared cost, free, personal, corporate and paging numbers.
const dear = "+1900 +1800 +1833 +1844 +1855 +1866 +1877 +1888 +1500 +1600 +1700 +1712 " +
	"+443 +4455 +4456 +4470 +448 +449 +447924 +447911123 +34800 +34803 +34806 +34807 +34900 +34901 +34902 +34905 +3470 +3451 " +
	"+338 +49800 +49900 +49180 +49137 +49700 +43800 +43810 +43820 +43900 +43930 +43720 " +
	"+351800 +351808 +351707 +351760 +351761 +35130 +39800 +3984 +3989 +39199 +39178 +39144 +39166 +393 +3519 " +
	"+31800 +31900 +31906 +31909 +3184 +3185 +3187 +3188 +316 +32800 +32900 +3246 +3247 +3248 +3249 +352800 +352900 +3526 " +
	"+41800 +4184 +4186 +4190 +4158 +4175 +4176 +4177 +4178 +4179"

// Numbers at random of every plan, and of every neighbour that shares a code with one.
func TestSoundEverywhere(t *testing.T) {
	prefixes := strings.Fields("+34 +33 +49 +43 +44 +447 +353 +1 +1212 +1416 +351 +39 +3906 +31 +32 +352 +41 " +
		"+4479 +1876 +262 +590 +378 +423 +88 +97 +8 " + dear)
	called := 0
	rapid.Check(t, func(t *rapid.T) {
		prefix := rapid.SampledFrom(prefixes).Draw(t, "prefix")
		s := prefix + rapid.StringMatching(`[0-9]{4,10}`).Draw(t, "rest")
		sound(t, s)
		if _, err := destination.Classify(s); err == nil {
			called++
		}
	})
	if called == 0 {
		t.Error("no number was accepted, so nothing was shown")
	}
}
