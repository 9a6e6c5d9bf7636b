package agent

import (
	"cmp"
	"strings"
)

// Auto is the language of an agent that speaks its caller's; what it speaks first may stand behind it, as in auto-es.
const Auto = "auto"

// Spoken is what an agent of a document's language speaks first, and whether it follows its caller.
func Spoken(language string) (first string, follows bool) {
	rest, follows := strings.CutPrefix(strings.ReplaceAll(strings.ToLower(language), "_", "-"), Auto)
	if !follows {
		return language, false
	}
	return cmp.Or(strings.TrimPrefix(rest, "-"), DefaultLanguage), true
}

// language is a document's language in the form in which it is kept.
func (n Names) language(text string) string {
	first, follows := Spoken(text)
	if !follows {
		return n.Language(text)
	}
	return Auto + "-" + n.Language(first)
}

// Speak changes the language. A first message, which may be said again, a goodbye and an announcement of the agent's own are in the
// language of first, which it began as; in another one it leaves the first to the model.
func (a *Agent) Speak(language string, first *Agent) {
	a.Language, a.FirstMessage, a.Goodbye, a.Announcement = language, "", "", ""
	if language == first.Language {
		a.FirstMessage, a.Goodbye, a.Announcement = first.FirstMessage, first.Goodbye, first.Announcement
	}
}
