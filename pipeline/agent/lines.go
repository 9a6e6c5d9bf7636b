package agent

import (
	"cmp"

	"parley/pipeline/turn"
)

// The agent's own lines, in the nine languages: what it says without the model.
var ownLines = map[string]map[turn.Line]string{
	"en": {turn.Sorry: "Sorry, could you say that again?", turn.Reprompt: "Are you still there?", turn.Goodbye: "I have to end the call now. Goodbye.", turn.Trouble: "Sorry, something went wrong. Could you say that again?", turn.Reconnected: "Sorry, I lost you for a moment."},
	"es": {turn.Sorry: "Perdone, ¿puede repetirlo?", turn.Reprompt: "¿Sigue ahí?", turn.Goodbye: "Tengo que terminar la llamada. Adiós.", turn.Trouble: "Perdone, algo ha fallado. ¿Puede repetirlo?", turn.Reconnected: "Perdone, se ha cortado un momento."},
	"ca": {turn.Sorry: "Perdoni, ho pot repetir?", turn.Reprompt: "Encara hi és?", turn.Goodbye: "He d'acabar la trucada. Adéu.", turn.Trouble: "Perdoni, alguna cosa ha fallat. Ho pot repetir?", turn.Reconnected: "Perdoni, s'ha tallat un moment."},
	"gl": {turn.Sorry: "Perdoe, pode repetilo?", turn.Reprompt: "Segue aí?", turn.Goodbye: "Teño que rematar a chamada. Adeus.", turn.Trouble: "Perdoe, algo fallou. Pode repetilo?", turn.Reconnected: "Perdoe, cortouse un momento."},
	"eu": {turn.Sorry: "Barkatu, errepikatuko duzu?", turn.Reprompt: "Hor zaude oraindik?", turn.Goodbye: "Deia amaitu behar dut. Agur.", turn.Trouble: "Barkatu, zerbaitek huts egin du. Errepikatuko duzu?", turn.Reconnected: "Barkatu, deia une batez eten da."},
	"pt": {turn.Sorry: "Desculpe, pode repetir?", turn.Reprompt: "Ainda está aí?", turn.Goodbye: "Tenho de terminar a chamada. Adeus.", turn.Trouble: "Desculpe, algo correu mal. Pode repetir?", turn.Reconnected: "Desculpe, a chamada falhou por um momento."},
	"fr": {turn.Sorry: "Pardon, pouvez-vous répéter ?", turn.Reprompt: "Vous êtes toujours là ?", turn.Goodbye: "Je dois terminer l'appel. Au revoir.", turn.Trouble: "Pardon, un problème est survenu. Pouvez-vous répéter ?", turn.Reconnected: "Pardon, nous avons été coupés un instant."},
	"it": {turn.Sorry: "Scusi, può ripetere?", turn.Reprompt: "È ancora lì?", turn.Goodbye: "Devo chiudere la chiamata. Arrivederci.", turn.Trouble: "Scusi, qualcosa non ha funzionato. Può ripetere?", turn.Reconnected: "Scusi, è caduta la linea per un momento."},
	"de": {turn.Sorry: "Entschuldigung, könnten Sie das wiederholen?", turn.Reprompt: "Sind Sie noch da?", turn.Goodbye: "Ich muss das Gespräch jetzt beenden. Auf Wiederhören.", turn.Trouble: "Entschuldigung, etwas ist schiefgegangen. Könnten Sie das wiederholen?", turn.Reconnected: "Entschuldigung, die Verbindung war kurz unterbrochen."},
}

// Line is what the agent says for a line; empty when it has nothing to say.
func (a *Agent) Line(l turn.Line) string {
	switch {
	case l == turn.Greeting:
		return a.FirstMessage
	case l == turn.Goodbye && a.Goodbye != "":
		return a.Goodbye
	}
	if lines, ok := ownLines[a.Language]; ok {
		return lines[l]
	}
	return ownLines["en"][l]
}

// Fillers is how often in one turn.
const Fillers = turn.MaxFillers

// fillers are what is said while a function takes its time, in the nine languages.
var fillers = map[string][Fillers]string{
	"en": {"One moment, please.", "I am still working on it."},
	"es": {"Un momento, por favor.", "Sigo en ello."},
	"ca": {"Un moment, si us plau.", "Encara hi estic treballant."},
	"gl": {"Un momento, por favor.", "Sigo con iso."},
	"eu": {"Une bat, mesedez.", "Horretan ari naiz oraindik."},
	"pt": {"Um momento, por favor.", "Ainda estou a tratar disso."},
	"fr": {"Un instant, s'il vous plaît.", "Je m'en occupe encore."},
	"it": {"Un momento, per favore.", "Ci sto ancora lavorando."},
	"de": {"Einen Moment, bitte.", "Ich bin noch dabei."},
}

// announcements are what callers who wait for a transfer hear now and then.
var announcements = map[string]string{
	"en": "You are still on hold. Somebody will be with you as soon as they can.",
	"es": "Sigue en espera. Le atenderán lo antes posible.",
	"ca": "Encara està en espera. L'atendran tan aviat com sigui possible.",
	"gl": "Segue en espera. Atenderano canto antes.",
	"eu": "Zain zaude oraindik. Ahal bezain laster artatuko zaituzte.",
	"pt": "Continua em espera. Será atendido logo que possível.",
	"fr": "Vous êtes toujours en attente. On vous répondra dès que possible.",
	"it": "È ancora in attesa. Le risponderanno appena possibile.",
	"de": "Sie sind noch in der Warteschleife. Es ist gleich jemand für Sie da.",
}

// Filler is what the agent says the nth time in a turn that a function makes the caller
// wait; n is from 0 and below Fillers, or turn.Announcement.
func (a *Agent) Filler(n int) string {
	if n == turn.Announcement {
		return cmp.Or(a.Announcement, announcements[a.Language], announcements["en"])
	}
	if texts, ok := fillers[a.Language]; ok {
		return texts[n]
	}
	return fillers["en"][n]
}
