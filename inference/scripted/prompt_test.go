package scripted

import (
	"strings"
	"testing"

	"parley/inference"
)

const trattoria = `You are Ana, the receptionist of Bella Vista, an Italian restaurant.
Be friendly and brief. Always answer in one sentence.
We are open Monday to Friday from nine to six, and Saturday from ten to two.
You can find us at 12 Main Street, opposite the town hall of St. Mary.
A three course menu costs 25 euros. Children under six eat for free.
We have vegetarian dishes. We do not deliver. There is a car park behind the house.
You must never talk about politics. Tell callers that dogs are welcome in the garden.
If the caller is rude, end the call.
We take reservations by phone.
`

// say is the engine's answer to what a caller says after what was said before,
// which alternates between caller and agent.
func say(system, language string, said ...string) string {
	r := inference.Request{System: system, Language: language}
	for i, text := range said {
		role := inference.RoleUser
		if i%2 == 1 {
			role = inference.RoleAgent
		}
		r.Messages = append(r.Messages, inference.Message{Role: role, Text: text})
	}
	return respond(r).say
}

// TestFromPrompt asks an ordinary prompt, in the words of callers and of a weak
// recogniser.
func TestFromPrompt(t *testing.T) {
	const (
		hours     = "We are open Monday to Friday"
		address   = "12 Main Street, opposite the town hall of St. Mary."
		price     = "A three course menu costs 25 euros."
		parking   = "There is a car park behind the house."
		misheard  = "Sorry, I did not understand"
		assistant = "I am Ana, the receptionist of Bella Vista, an Italian restaurant. I am an automated assistant"
	)
	for heard, want := range map[string]string{
		"What time do you open on Monday":                    hours,
		"What time do you open on Monday?":                   hours,
		"what time do you hope on monday":                    hours,
		"what time you opening a monday":                     hours,
		"hello what time do you open":                        hours,
		"I would like to know your opening hours please":     hours,
		"are you open on sunday":                             hours,
		"when do you close":                                  hours,
		"and on saturday":                                    hours,
		"Where are you located":                              address,
		"where is bella vista":                               address,
		"tell me the address":                                address,
		"how much is the menu":                               price,
		"how much does it cost":                              price,
		"do you have parking":                                parking,
		"can I park my car":                                  parking,
		"do you deliver":                                     "We do not deliver.",
		"are dogs allowed":                                   "Dogs are welcome in the garden.",
		"do I need a reservation":                            "We take reservations by phone.",
		"what time do you open and where are you":            hours,
		"I have a question, do you have anything vegetarian": "We have vegetarian dishes.",
		"who are you":                                        assistant,
		"are you a robot":                                    assistant,
		"hello":                                              "Hello!",
		"what can you do":                                    "I can tell you about our opening hours,",
		"Can you hear me?":                                   "Yes, I can hear you.",
		"what do you think about politics":                   misheard,
		"are you happy when someone is rude":                 misheard,
		"do you sell bicycles":                               misheard,
		"":                                                   misheard,
		"🙂 ??":                                               misheard,
		"goodbye":                                            "Thank you for calling. Goodbye!",
		"okay thanks bye":                                    "Thank you for calling. Goodbye!",
		"before I say goodbye what time do you open on monday": hours,
		"thank you very much":     "You're welcome.",
		"my name is peter miller": "Nice to meet you, Peter Miller.",
		"say that again":          "I have not said anything yet.",
		strings.Repeat("what time do you open on monday please ", 9): hours,
	} {
		if got := say(trattoria, "en", heard); !strings.HasPrefix(got, want) && !(want == address && strings.HasSuffix(got, want)) {
			t.Errorf("%q: %q, want %q", heard, got, want)
		}
	}
	if got := say(trattoria, "en", "what time do you open and where are you"); !strings.HasSuffix(got, address) {
		t.Errorf("two questions: %q", got)
	}
}

// TestPromptForms: lists, headings and questions with answers are facts too.
func TestPromptForms(t *testing.T) {
	const prompt = "# Opening hours\n- Mon: closed\n- Tuesday to Friday 9:30-18:00\n\nPrices:\n* Haircut 20 euros\n* Beard trim 12 euros\n\n" +
		"Q: Do you sell gift cards?\nA: Yes, from 10 euros.\nWe close at 5 p.m. on holidays. Mr. B. Jones is the owner."
	for heard, want := range map[string]string{
		"are you open on tuesday":     "Opening hours: Tuesday to Friday 9:30-18:00",
		"what does a beard trim cost": "Prices: Beard trim 12 euros",
		"can i buy a gift card":       "Yes, from 10 euros.",
		"who is the owner":            "Mr. B. Jones is the owner.",
		"what about holidays":         "We close at 5 p.m. on holidays.",
	} {
		if got := say(prompt, "en", heard); got != want {
			t.Errorf("%q: %q", heard, got)
		}
	}
}

// TestLanguages: every language greets, answers from a prompt in it, falls back
// and says goodbye.
func TestLanguages(t *testing.T) {
	for code, c := range map[string]struct{ prompt, hello, question, fact, bye string }{
		"en": {trattoria, "good morning", "what time do you open on monday", "We are open", "goodbye"},
		"es": {"Eres Ana, la recepcionista. Sé breve. Abrimos de lunes a viernes de nueve a seis. El menú cuesta doce euros. Estamos en la calle Mayor 5.",
			"buenos días", "¿a qué hora abren el lunes?", "Abrimos de lunes a viernes de nueve a seis.", "adiós"},
		"pt": {"És a Ana. Abrimos de segunda a sexta das nove às seis. A ementa custa doze euros.", "bom dia", "a que horas abrem na segunda", "Abrimos de segunda", "adeus"},
		"fr": {"Vous êtes Ana. Nous sommes ouverts du lundi au vendredi de neuf heures à dix-huit heures. Le menu coûte vingt euros.", "bonjour", "à quelle heure ouvrez-vous le lundi ?", "Nous sommes ouverts", "au revoir"},
		"it": {"Sei Ana. Siamo aperti dal lunedì al venerdì dalle nove alle sei. Il menù costa venti euro.", "buongiorno", "a che ora aprite il lunedì", "Siamo aperti", "arrivederci"},
		"de": {"Du bist Ana. Wir haben von Montag bis Freitag von neun bis achtzehn Uhr geöffnet. Das Menü kostet zwanzig Euro.", "guten Tag", "Wann öffnen Sie am Montag?", "Wir haben von Montag", "auf Wiederhören"},
		"ca": {"Ets l'Anna. Obrim de dilluns a divendres de nou a sis.", "bon dia", "a quina hora obriu dilluns", "Obrim de dilluns", "adéu"},
		"gl": {"Es Ana. Abrimos de luns a venres de nove a seis.", "bos días", "a que hora abren o luns", "Abrimos de luns", "adeus"},
		"eu": {"Zu Ane zara. Astelehenetik ostiralera irekita gaude.", "egun on", "zer ordutan irekitzen duzue", "Astelehenetik ostiralera", "agur"},
	} {
		l := languages[code]
		if got := say(c.prompt, code, c.hello); got != l.talk[greet].answer {
			t.Errorf("%s: %q: %q", code, c.hello, got)
		}
		if got := say(c.prompt, code, c.question); !strings.HasPrefix(got, c.fact) {
			t.Errorf("%s: %q: %q", code, c.question, got)
		}
		if got := say(c.prompt, code, "xyzzy plugh"); got != l.texts.fallback[0] {
			t.Errorf("%s: fallback %q", code, got)
		}
		if got := say(c.prompt, code, c.bye); got != l.talk[bye].answer {
			t.Errorf("%s: %q: %q", code, c.bye, got)
		}
		if got := say("", code); got != l.talk[greet].answer {
			t.Errorf("%s: nothing said: %q", code, got)
		}
	}
	if got := say("", "ja", "hello"); got != english.talk[greet].answer {
		t.Errorf("a language it does not have: %q", got)
	}
}

// TestSmallTalk: every phrase that callers are expected to use gets its answer.
func TestSmallTalk(t *testing.T) {
	for code, l := range languages {
		for name, talk := range l.data.talk {
			if name == booking {
				continue
			}
			for _, p := range split(talk.phrases) {
				want := talk.answer
				switch name {
				case help:
					want = l.talk[greet].answer
				case again:
					want = l.texts.nothing
				}
				if got := say("", code, p); got != want {
					t.Errorf("%s, %s: %q: %q", code, name, p, got)
				}
			}
		}
	}
}

func TestPhrases(t *testing.T) {
	for _, code := range codes {
		list := Phrases(code)
		if len(list) < 60 {
			t.Errorf("%s: %d phrases", code, len(list))
		}
		for _, p := range list {
			if strings.TrimSpace(p) == "" || strings.ContainsAny(p, "|_=") {
				t.Errorf("%s: phrase %q", code, p)
			}
		}
		list[0] = "mine"
		if Phrases(code)[0] == "mine" {
			t.Error("the list is shared")
		}
	}
	if Phrases("xx") != nil {
		t.Error("phrases of an unknown language")
	}
}

// TestMisses: what is not understood three times is not answered with the same
// words, and an understood sentence starts over.
func TestMisses(t *testing.T) {
	f := english.texts.fallback
	if got := say(trattoria, "en", "xyzzy", f[0], "plugh"); !strings.HasPrefix(got, "I'm sorry, I still did not get that. I can tell you about our opening hours") {
		t.Errorf("second miss: %q", got)
	}
	if got := say(trattoria, "en", "xyzzy", "a", "plugh", "b", "frotz"); got != f[2] {
		t.Errorf("third miss: %q", got)
	}
	if got := say(trattoria, "en", "xyzzy", "a", "hello", "b", "frotz"); got != f[0] {
		t.Errorf("after an understood one: %q", got)
	}
	if got := say(trattoria, "en", "do you deliver", "We do not deliver.", "can you repeat that"); got != "We do not deliver." {
		t.Errorf("again: %q", got)
	}
}

// TestAsked: what recognisers are told to expect can be answered by a prompt
// that speaks of all of it.
func TestAsked(t *testing.T) {
	const prompt = "We are open daily from nine to six. Lunch costs 20 euros. Our address is 12 Main Street. We take reservations. " +
		"Every dish on the menu is vegetarian. We deliver in town. Cash and cards are welcome. You can park your car at our door. Our phone number is 555 1234 and our email is info at example."
	for _, q := range split(english.asked) {
		if q == "i would like some information" {
			break // the rest are answers to questions
		}
		if got := say(prompt, "en", q); got == english.texts.fallback[0] {
			t.Errorf("%q was not understood", q)
		}
	}
}

// TestHugePrompt: a prompt of any length is read in bounded time and memory.
func TestHugePrompt(t *testing.T) {
	for name, prompt := range map[string]string{
		"sentences":    strings.Repeat("We are open on monday from nine to six. ", 20000),
		"one sentence": strings.Repeat("open monday reservation ", 40000),
		"rules":        strings.Repeat("When the caller says \"open {day} at {time}\", \"hours\": {x} {day}\n", 10000),
	} {
		l := languages["en"]
		s := l.parse(prompt)
		if len(s.facts) > maxFacts || len(s.rules) > maxRules || len(s.facts)+len(s.rules) == 0 {
			t.Errorf("%s: %d facts and %d rules", name, len(s.facts), len(s.rules))
		}
		if got := say(prompt, "en", strings.Repeat("what time do you open on monday ", 5000)); got == "" {
			t.Errorf("%s: no answer", name)
		}
	}
}
