package amd

import (
	"unicode"
	"unicode/utf8"
)

// phrases give away who answered, folded.
type phrases struct{ machine, screening [][]byte }

// spoken are they as they are written. A phrase that a person might answer with, such
// as "you have reached", is in none of them.
var spoken = map[string]struct{ machine, screening []string }{
	"en": {
		machine: []string{"leave a message", "leave your message", "leave me a message", "after the tone", "after the beep", "at the tone", "voicemail", "voice mail",
			"mailbox", "not available", "is unavailable", "can't take your call", "cannot take your call", "unable to take your call", "can't answer",
			"cannot answer", "can't come to the phone", "record your message", "answering machine"},
		screening: []string{"state your name", "say your name", "record your name", "name and why", "name and reason", "reason for calling", "reason for your call",
			"why you're calling", "why you are calling", "screening service", "call screening", "see if this person is available"},
	},
	"es": {
		machine: []string{"deje su mensaje", "deje un mensaje", "deja tu mensaje", "deja un mensaje", "grabe su mensaje", "después de la señal", "después del tono",
			"tras la señal", "oír la señal", "buzón de voz", "contestador", "no puedo atender", "no podemos atender", "no está disponible", "fuera de cobertura"},
		screening: []string{"diga su nombre", "di tu nombre", "grabe su nombre", "nombre y el motivo", "motivo de la llamada", "motivo de su llamada", "por qué llama",
			"filtro de llamadas", "filtrado de llamadas"},
	},
	"fr": {
		machine: []string{"laissez un message", "laissez-moi un message", "laissez votre message", "laisser un message", "laisser votre message", "après le bip",
			"après le signal", "messagerie", "boîte vocale", "répondeur", "n'est pas disponible", "ne suis pas disponible", "indisponible", "ne peux pas vous répondre",
			"ne peut pas vous répondre"},
		screening: []string{"indiquez votre nom", "dites votre nom", "enregistrez votre nom", "votre nom et la raison", "votre nom et le motif", "motif de votre appel",
			"raison de votre appel", "filtrage d'appels"},
	},
	"de": {
		machine: []string{"hinterlassen sie", "hinterlasse eine", "nach dem ton", "nach dem signalton", "nach dem piepton", "nach dem signal", "mailbox", "sprachbox",
			"anrufbeantworter", "nicht erreichbar", "nicht verfügbar", "zurzeit nicht", "zur zeit nicht", "kann ihren anruf"},
		screening: []string{"nennen sie ihren namen", "sagen sie ihren namen", "namen und den grund", "grund ihres anrufs", "grund für ihren anruf", "warum sie anrufen",
			"anruffilter"},
	},
	"it": {
		machine: []string{"lasciate un messaggio", "lascia un messaggio", "lasci un messaggio", "lasciare un messaggio", "dopo il segnale", "dopo il bip", "segreteria",
			"casella vocale", "non è raggiungibile", "non raggiungibile", "non è disponibile", "non posso rispondere", "non possiamo rispondere"},
		screening: []string{"dica il suo nome", "pronunci il suo nome", "registri il suo nome", "nome e il motivo", "motivo della chiamata", "perché sta chiamando",
			"filtro chiamate"},
	},
	"pt": {
		machine: []string{"deixe a sua mensagem", "deixe sua mensagem", "deixe uma mensagem", "deixe mensagem", "deixar mensagem", "após o sinal", "depois do sinal",
			"após o bip", "caixa postal", "correio de voz", "voice mail", "não está disponível", "não posso atender", "não podemos atender", "grave a sua mensagem"},
		screening: []string{"diga o seu nome", "diga seu nome", "grave o seu nome", "grave seu nome", "nome e o motivo", "motivo da chamada", "motivo da ligação",
			"filtro de chamadas"},
	},
}

var known = func() map[string]*phrases {
	all := map[string]*phrases{}
	for language, s := range spoken {
		p := &phrases{}
		for _, text := range s.machine {
			p.machine = append(p.machine, folded(text))
		}
		for _, text := range s.screening {
			p.screening = append(p.screening, folded(text))
		}
		all[language] = p
	}
	return all
}()

func folded(text string) []byte { return fold(make([]byte, 0, textSize), text) }

// Phrases are those of a language, for a recogniser that understands best what it
// expects.
func Phrases(language string) []string {
	s := spoken[language]
	return append(append([]string{}, s.machine...), s.screening...)
}

// textSize bounds the words that are looked at: what is said in half a minute.
const textSize = 512

// fold writes the last of text in lower case, without accents and apostrophes, with a
// space before and after each word. It writes no more than into has room for.
func fold(into []byte, text string) []byte {
	if over := len(text) - cap(into)/2; over > 0 { // ß and œ grow
		for over < len(text) && !utf8.RuneStart(text[over]) {
			over++
		}
		text = text[over:]
	}
	space := true
	into = append(into, ' ')
	for _, r := range text {
		switch r = unicode.ToLower(r); {
		case r == '\'' || r == '’':
			continue
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			if !space {
				into, space = append(into, ' '), true
			}
			continue
		}
		space = false
		switch r {
		case 'á', 'à', 'â', 'ä', 'ã', 'å':
			r = 'a'
		case 'é', 'è', 'ê', 'ë':
			r = 'e'
		case 'í', 'ì', 'î', 'ï':
			r = 'i'
		case 'ó', 'ò', 'ô', 'ö', 'õ':
			r = 'o'
		case 'ú', 'ù', 'û', 'ü':
			r = 'u'
		case 'ñ':
			r = 'n'
		case 'ç':
			r = 'c'
		case 'ß':
			into, r = append(into, 's'), 's'
		case 'œ':
			into, r = append(into, 'o'), 'e'
		}
		into = utf8.AppendRune(into, r)
	}
	if !space {
		into = append(into, ' ')
	}
	return into
}
