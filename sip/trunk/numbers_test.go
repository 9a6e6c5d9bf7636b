package trunk

import "testing"

func TestNumbersThatComeIn(t *testing.T) {
	german := DialPlan{Country: "DE"}
	for _, c := range []struct {
		plan       DialPlan
		user, want string
	}{
		{DialPlan{}, "+4934112345678", "+4934112345678"},
		{DialPlan{}, "034112345678", "034112345678"},
		{german, "+4934112345678", "+4934112345678"},
		{german, "034112345678", "+4934112345678"},
		{german, "004934112345678", "+4934112345678"},
		{german, "4934112345678", "+4934112345678"},
		{german, "0033140205050", "+33140205050"},
		{german, "+33140205050", "+33140205050"},
		{german, "100", "100"},
		{german, "lola", "lola"},
		{german, "*97", "*97"},
		{german, "", ""},
		{DialPlan{Country: "US"}, "2125550123", "+12125550123"},
		{DialPlan{Country: "US"}, "12125550123", "+12125550123"},
		{DialPlan{Country: "US"}, "011442079460018", "+442079460018"},
		{DialPlan{Country: "ES"}, "911234567", "+34911234567"},
		{DialPlan{Country: "DE", Strip: 1}, "9034112345678", "+4934112345678"},
		{DialPlan{Country: "DE", Strip: 4, Prefix: "+49"}, "777734112345678", "+4934112345678"},
		{DialPlan{Strip: 9}, "12", ""},
	} {
		if got := c.plan.Called(c.user); got != c.want {
			t.Errorf("%+v: %q is %q, want %q", c.plan, c.user, got, c.want)
		}
	}
	// The access code stands before called numbers alone.
	if got := (&DialPlan{Country: "DE", Strip: 1}).Calling("034112345678"); got != "+4934112345678" {
		t.Errorf("calls from %q", got)
	}
}

func TestNumbersThatGoOut(t *testing.T) {
	const leipzig, paris = "+4934112345678", "+33140205050"
	for _, c := range []struct {
		plan         DialPlan
		number, want string
	}{
		{DialPlan{}, leipzig, leipzig},
		{DialPlan{Form: FormE164}, leipzig, leipzig},
		{DialPlan{Form: FormPlain}, leipzig, "4934112345678"},
		{DialPlan{Form: FormInternational}, leipzig, "004934112345678"},
		{DialPlan{Form: FormInternational, Country: "US"}, leipzig, "0114934112345678"},
		{DialPlan{Form: FormNational, Country: "DE"}, leipzig, "034112345678"},
		{DialPlan{Form: FormNational, Country: "DE"}, paris, "0033140205050"},
		{DialPlan{Form: FormNational, Country: "US"}, "+12125550123", "2125550123"},
		{DialPlan{Form: FormNational}, leipzig, "004934112345678"},
		{DialPlan{Form: FormPlain, DialPrefix: "1234"}, leipzig, "12344934112345678"},
		{DialPlan{Form: FormPlain, DialStrip: 2, DialPrefix: "0"}, leipzig, "034112345678"},
		{DialPlan{Form: FormNational, Country: "DE"}, "100", "100"},
	} {
		if got := c.plan.Dialled(c.number); got != c.want {
			t.Errorf("%+v: %s is dialled %s, want %s", c.plan, c.number, got, c.want)
		}
	}
	// The technical prefix stands before called numbers alone.
	if got := (&DialPlan{Form: FormPlain, DialPrefix: "1234"}).Shown(paris); got != "33140205050" {
		t.Errorf("%s is shown as %s", paris, got)
	}
}

func TestExtensions(t *testing.T) {
	plan := DialPlan{Extensions: []Extension{{"100", "one"}, {"1xx", "two"}, {"lola", "three"}, {"max", "four"}, {"sales*", "five"}, {"5x*", "six"}}}
	for user, want := range map[string]string{
		"100": "one", "123": "two", "1234": "", "12": "", "1ab": "", "lola": "three", "Lola": "three", "lolas": "", "max": "four", "ma1": "",
		"sales": "five", "sales-eu": "five", "sale": "", "5": "", "51": "six", "5123": "six", "5a": "", "": "", "+34911234567": "",
	} {
		if agent, ok := plan.Extension(user); agent != want || ok != (want != "") {
			t.Errorf("%q: %q %v, want %q", user, agent, ok, want)
		}
	}
	if agent, ok := (&DialPlan{Extensions: []Extension{{"*", "all"}}}).Extension("anybody"); !ok || agent != "all" {
		t.Errorf("*: %q %v", agent, ok)
	}
}
