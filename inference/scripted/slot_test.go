package scripted

import "testing"

func TestValues(t *testing.T) {
	for _, c := range []struct{ language, heard, kind, want string }{
		{"en", "a table for four", kindNumber, "4"},
		{"en", "at seven for two", kindNumber, "2"},
		{"en", "twenty five", kindNumber, "25"},
		{"en", "we are 12 guests", kindNumber, "12"},
		{"en", "at seven", kindTime, "7:00"},
		{"en", "half past six in the evening", kindTime, "18:30"},
		{"en", "quarter to nine", kindTime, "8:45"},
		{"en", "six thirty p.m.", kindTime, "18:30"},
		{"en", "seven o'clock", kindTime, "7:00"},
		{"en", "around noon", kindTime, "12:00"},
		{"en", "19:45 please", kindTime, "19:45"},
		{"en", "for two people", kindTime, ""},
		{"en", "twelve p.m.", kindTime, "12:00"},
		{"en", "at seven pm", kindTime, "19:00"},
		{"en", "on wensday", kindDay, "Wednesday"},
		{"en", "on Sunday", kindDay, "Sunday"},
		{"en", "my name is john smith and i", kindName, "John Smith"},
		{"en", "i am looking for shoes", kindName, ""},
		{"en", "number one two three four", kindDigits, "1234"},
		{"en", "order 98765", kindDigits, "98765"},
		{"en", "for two", kindDigits, ""},
		{"es", "para veintitrés personas", kindNumber, "23"},
		{"es", "treinta y cinco", kindNumber, "35"},
		{"es", "a las ocho y media de la tarde", kindTime, "20:30"},
		{"es", "a la una menos cuarto", kindTime, "0:45"},
		{"es", "el miercoles", kindDay, "miércoles"},
		{"es", "me llamo josé luis", kindName, "Jose Luis"},
	} {
		found := languages[c.language].values(tokens(c.heard))
		if found[c.kind] != c.want {
			t.Errorf("%s %q: %s is %q, want %q", c.language, c.heard, c.kind, found[c.kind], c.want)
		}
	}
}

func TestFill(t *testing.T) {
	l := languages["en"]
	for _, c := range []struct{ kind, heard, want string }{
		{kindTime, "seven", "7:00"},
		{kindTime, "maybe at eight in the evening", "20:00"},
		{kindTime, "whenever", ""},
		{kindName, "it's Peter", "Peter"},
		{kindName, "this is mary jane", "Mary Jane"},
		{kindDigits, "42", "42"},
		{kindText, "to new york please", "New York"},
		{kindText, "well i was thinking that perhaps one day we should travel somewhere nice", ""},
		{kindNumber, "just the two of us", "2"},
	} {
		if got := l.fill(slot{kind: c.kind}, tokens(c.heard)); got != c.want {
			t.Errorf("%s from %q: %q, want %q", c.kind, c.heard, got, c.want)
		}
	}
}

func TestAlike(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"open", "opens", true}, {"delivery", "deliveries", true}, {"reservation", "resrvation", true}, {"monday", "munday", true},
		{"book", "boot", false}, {"open", "oven", false}, {"1234", "1235", false}, {"two", "too", false}, {"", "", true}, {"a", "", false},
	} {
		if got := alike(c.a, c.b) >= 0.8; got != c.same {
			t.Errorf("%q and %q: %v", c.a, c.b, got)
		}
	}
}

func TestKindOf(t *testing.T) {
	for slot, want := range map[string]string{"party_size": kindNumber, "partySize": kindNumber, "order_number": kindDigits, "customer_name": kindName,
		"date": kindDay, "city": kindText, "start-time": kindTime, "": kindText, "fecha": kindDay} {
		if got := kindOf(slot); got != want {
			t.Errorf("%q is %s", slot, got)
		}
	}
}
