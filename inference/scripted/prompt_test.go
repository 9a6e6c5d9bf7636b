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
		address   = "You can find us at 12 Main Street, opposite the town hall of St. Mary."
		price     = "A three course menu costs 25 euros."
		parking   = "There is a car park behind the house."
		misheard  = "Sorry, I did not understand"
		assistant = "I am an automated assistant that follows rules."
	)
	for heard, want := range map[string]string{
		"What time do you open on Monday":                    hours,
		"What time do you open on Monday?":                   hours,
		"what time you opening a monday":                     hours,
		"hello what time do you open":                        hours,
		"I would like to know your opening hours please":     hours,
		"are you open on sunday":                             hours,
		"and on saturday":                                    hours,
		"how much is the menu":                               price,
		"what is opposite the town hall":                     address,
		"how much does it cost":                              price,
		"do you have parking":                                parking,
		"can I park my car":                                  parking,
		"do you deliver":                                     "We do not deliver.",
		"do I need a reservation":                            "We take reservations by phone.",
		"what time do you open and where are you":            hours,
		"I have a question, do you have anything vegetarian": "We have vegetarian dishes.",
		"who are you":                                        assistant,
		"are you a robot":                                    assistant,
		"hello":                                              "Hello!",
		"what do you think about politics":                   misheard,
		"are you happy when someone is rude":                 misheard,
		"do you sell bicycles":                               misheard,
		"":                                                   misheard,
		"🙂 ??":                                               misheard,
		"goodbye":                                            "Thank you for calling. Goodbye!",
		"okay thanks bye":                                    "Thank you for calling. Goodbye!",
		"before I say goodbye what time do you open on monday": hours,
		"thank you very much": "You're welcome.",
		"say that again":      "I have not said anything yet.",
		strings.Repeat("what time do you open on monday please ", 9): hours,
	} {
		if got := say(trattoria, "en", heard); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %q, want %q", heard, got, want)
		}
	}
}

// TestPromptForms: items of lists are sentences, headings none, questions with answers are rules.
func TestPromptForms(t *testing.T) {
	const prompt = "# Opening hours\n- Mon: closed\n- Tuesday to Friday 9:30-18:00\n\nPrices:\n* Haircut 20 euros\n* Beard trim 12 euros\n\n" +
		"Q: Do you sell gift cards?\nA: Yes, from 10 euros.\nWe close at 5 p.m. on holidays. Mr. B. Jones is the owner."
	for heard, want := range map[string]string{
		"how about tuesday":           "Tuesday to Friday 9:30-18:00",
		"what does a beard trim cost": "Beard trim 12 euros",
		"can i buy a gift card":       "Yes, from 10 euros.",
		"who is the owner":            "Mr. B. Jones is the owner.",
		"what about holidays":         "We close at 5 p.m. on holidays.",
	} {
		if got := say(prompt, "en", heard); got != want {
			t.Errorf("%q: %q", heard, got)
		}
	}
}

// TestLanguages: every language greets and falls back in its own words, and follows rules
// and answers from a prompt that are written in it.
func TestLanguages(t *testing.T) {
	for code, c := range map[string]struct{ prompt, question, want string }{
		"en": {trattoria, "what time do you open on monday", "We are open"},
		"es": {"Eres Ana, la recepcionista. Sé breve. Abrimos de lunes a viernes de nueve a seis. El menú cuesta doce euros. Estamos en la calle Mayor 5.",
			"¿cuánto cuesta el menú?", "El menú cuesta doce euros."},
		"pt": {"Abrimos de segunda a sexta das nove às seis.", "quando abrimos na segunda", "Abrimos de segunda"},
		"fr": {"Quand l'appelant dit \"vos horaires\": De neuf heures à six heures.", "quels sont vos horaires", "De neuf heures"},
		"it": {"Se il cliente dice \"gli orari\": Dalle nove alle sei.", "quali sono gli orari", "Dalle nove"},
		"de": {"Wenn der Anrufer sagt \"Tisch für {name}\": Notiert für {name}.", "ein Tisch für uns", "Können Sie mir name nennen?"},
		"ca": {"Quan el client digui \"horari\": De nou a sis.", "horari", "De nou"},
		"gl": {"Cando o cliente diga \"horario\": De nove a seis.", "horario", "De nove"},
		"eu": {"Q: ordutegia\nA: Bederatzietatik seietara.", "ordutegia", "Bederatzietatik"},
	} {
		l := languages[code]
		if got := say(c.prompt, code, c.question); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q: %q", code, c.question, got)
		}
		if got := say(c.prompt, code, "xyzzy plugh"); got != l.lines.fallback {
			t.Errorf("%s: fallback %q", code, got)
		}
		if got := say("", code); got != l.lines.hello {
			t.Errorf("%s: nothing said: %q", code, got)
		}
		if l.lines.ask[kindText] == "" || l.lines.goodbye == "" || l.lines.moment == "" || l.lines.failed == "" || l.lines.done == "" || l.lines.cannot == "" {
			t.Errorf("%s: %+v", code, l.lines)
		}
	}
	if got := say("", "ja", "hello"); got != english.lines.hello {
		t.Errorf("a language it does not have: %q", got)
	}
	if got := say(`Wenn der Anrufer sagt "Tisch": Notiert für {name}.`, "de", "einen Tisch bitte", "", "Anna Schmidt"); got != "Notiert für Anna Schmidt." {
		t.Errorf("an answer without a table: %q", got)
	}
}

// TestSmallTalk: every phrase that callers are expected to use gets its answer.
func TestSmallTalk(t *testing.T) {
	for code, l := range languages {
		for _, one := range l.talk {
			for _, p := range one.phrases {
				if got := say("", code, strings.Join(p, " ")); got != one.answer {
					t.Errorf("%s, %s: %q: %q", code, one.name, p, got)
				}
			}
		}
	}
}

func TestPhrases(t *testing.T) {
	for _, code := range []string{"en", "es"} {
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
	for _, code := range []string{"de", "xx"} {
		if list := Phrases(code); len(list) > 0 {
			t.Errorf("phrases of a language without a table: %q", list)
		}
	}
}

// TestAgain: what was said is repeated on demand.
func TestAgain(t *testing.T) {
	if got := say(trattoria, "en", "do you deliver", "We do not deliver.", "can you repeat that"); got != "We do not deliver." {
		t.Errorf("again: %q", got)
	}
}

// TestHugePrompt: a prompt of any length is read in bounded time and memory.
func TestHugePrompt(t *testing.T) {
	for name, prompt := range map[string]string{
		"sentences":    strings.Repeat("We are open on monday from nine to six. ", 20000),
		"one sentence": strings.Repeat("open monday reservation ", 40000),
		"rules":        strings.Repeat("When the caller says \"open {day} at {time}\", \"hours\": {x} {day}\n", 10000),
	} {
		s := english.parse(prompt)
		if len(s.sentences) > maxSentences || len(s.rules) > maxRules || len(s.sentences)+len(s.rules) == 0 {
			t.Errorf("%s: %d sentences and %d rules", name, len(s.sentences), len(s.rules))
		}
		if got := say(prompt, "en", strings.Repeat("what time do you open on monday ", 5000)); got == "" {
			t.Errorf("%s: no answer", name)
		}
	}
}
