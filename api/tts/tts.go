// Package tts is speech synthesis as the API offers it, however it is asked
// for: one table of voices and languages, one check of what clients send, and one
// job that turns a text into 44.1 kHz audio with mouth shapes. Its own route is the
// one-shot POST /tts/synthesize; the streaming socket and the background tasks use
// the Service, too.
package tts

import (
	"context"
	"log/slog"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
	"parley/api/upload"
	"parley/api/wire"
	"parley/inference"
	"parley/media"
)

// Rate is the sample rate of everything a Service gives.
const Rate = media.Rate44k

// Service speaks with an engine. It may be used from several goroutines.
type Service struct{ engine inference.TTS }

// New returns a service that speaks with the engine.
func New(engine inference.TTS) *Service { return &Service{engine} }

// Request is a checked Ask.
type Request struct {
	Text     string
	Voice    string  // F1 to F5, M1 to M5
	Language string  // one of the nine, two letters
	Speed    float64 // 0.5 to 2.0
	Steps    int     // 1 to 8
	Visemes  bool
}

// Chunk is a piece of a job's audio, 16 bits mono at Rate. The receiver owns it.
type Chunk struct {
	Samples []int16
	// Visemes are the mouth shapes of these samples; nil unless they were asked for.
	Visemes []Viseme
	// Chars is how much of the text this chunk and those before it speak, in code
	// points; it never decreases.
	Chars int
}

// VoiceInfo is one of the ten voices.
type VoiceInfo struct {
	ID          string `json:"id" doc:"What requests name." example:"F1"`
	Name        string `json:"name" doc:"The name for people." example:"F1"`
	Gender      string `json:"gender" doc:"How it sounds." enum:"female,male"`
	Description string `json:"description" doc:"Its character in a word." example:"Warm"`
}

var voices = []VoiceInfo{
	{"F1", "F1", "female", "Warm"},
	{"F2", "F2", "female", "Bright"},
	{"F3", "F3", "female", "Calm"},
	{"F4", "F4", "female", "Professional"},
	{"F5", "F5", "female", "Natural"},
	{"M1", "M1", "male", "Deep"},
	{"M2", "M2", "male", "Clear"},
	{"M3", "M3", "male", "Young"},
	{"M4", "M4", "male", "Warm"},
	{"M5", "M5", "male", "Dynamic"},
}

// Voices lists the ten voices. The caller owns the list.
func Voices() []VoiceInfo { return slices.Clone(voices) }

// Voice is the identifier of a voice that a client has named, in any case and with
// the prefix of a group of languages that newer clients send; empty: there is none such.
func Voice(name string) string {
	id := strings.ToUpper(name)
	for _, group := range []string{"EN_", "ESCA_"} {
		if rest, ok := strings.CutPrefix(id, group); ok {
			return known(wire.Voices, rest)
		}
	}
	return known(wire.Voices, id)
}

// known is name if it is one of these.
func known(names []string, name string) string {
	if slices.Contains(names, name) {
		return name
	}
	return ""
}

// LanguageInfo is one of the nine languages.
type LanguageInfo struct {
	Code string `json:"code" doc:"ISO 639-1, what requests name." example:"en"`
	Name string `json:"name" doc:"The language in English." example:"English"`
}

var languages = []LanguageInfo{
	{"en", "English"}, {"es", "Spanish"}, {"ca", "Catalan"}, {"gl", "Galician"}, {"eu", "Basque"},
	{"pt", "Portuguese"}, {"fr", "French"}, {"it", "Italian"}, {"de", "German"},
}

// Languages lists the nine languages that can be spoken. The caller owns the list.
func Languages() []LanguageInfo { return slices.Clone(languages) }

// Language is the code of a language that a client has named, with a region or
// without: the first subtag of the tag (RFC 5646 section 2.1), in any case; empty: it is none
// of the nine.
func Language(tag string) string {
	code, _, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(tag), "_", "-"), "-")
	return known(wire.Languages, code)
}

// Viseme is one mouth shape.
type Viseme struct {
	V  int     `json:"v"`  // the character of the text that is being spoken, an index in code points
	C  string  `json:"c"`  // the reduced phoneme, one of Alphabet
	T  float64 `json:"t"`  // when, in seconds from the start of the audio
	ID int     `json:"id"` // the index of C in Alphabet
}

// Alphabet is the reduced phonemes that clients animate.
var Alphabet = [...]string{"a", "e", "i", "o", "u", "m", "p", "b", "f", "v", "t", "d", "s", "z", "l", "n", "r", "k", "g", "sil"}

// Silent is the index of silence in Alphabet.
const Silent = len(Alphabet) - 1

// nearest maps IPA symbols to the alphabet, by how the mouth looks.
var nearest = map[rune]string{
	'a': "a", 'ɑ': "a", 'æ': "a", 'ɐ': "a", 'ʌ': "a", 'ɒ': "o",
	'e': "e", 'ɛ': "e", 'ə': "e", 'ɜ': "e", 'ɘ': "e", 'œ': "o", 'ø': "o",
	'i': "i", 'ɪ': "i", 'y': "u", 'ʏ': "u", 'j': "i", 'ɨ': "i",
	'o': "o", 'ɔ': "o", 'u': "u", 'ʊ': "u", 'w': "u", 'ʉ': "u",
	'm': "m", 'p': "p", 'b': "b", 'β': "b", 'f': "f", 'v': "v",
	't': "t", 'd': "d", 'θ': "t", 'ð': "d", 'ɾ': "d", 's': "s", 'z': "z", 'ʃ': "s", 'ʒ': "z",
	'l': "l", 'ʎ': "l", 'ɫ': "l", 'n': "n", 'ɲ': "n", 'ŋ': "n", 'r': "r", 'ɹ': "r", 'ʁ': "r", 'ʀ': "r",
	'k': "k", 'c': "k", 'x': "k", 'ç': "k", 'h': "k", 'g': "g", 'ɡ': "g", 'ɣ': "g",
}

// Shape is the index in Alphabet of an IPA phoneme; Silent for what is none.
func Shape(ipa string) int {
	for _, r := range strings.TrimLeft(ipa, "ˈˌ") {
		if c, ok := nearest[r]; ok {
			return indexOf[c]
		}
	}
	return Silent
}

var indexOf = func() map[string]int {
	m := map[string]int{}
	for i, c := range Alphabet {
		m[c] = i
	}
	return m
}()

// Path is where a whole text is spoken.
const Path = "/tts/synthesize"

// Find finds an engine by its name, for an account, whose own keys count; false: there is none that serves it.
type Find func(ctx context.Context, account, name string) (inference.TTS, bool)

// Mount adds the one-shot route to an API. Requests that name an engine have the one that find finds; nil: there is none to
// name. Work is charged in books, and failures of ours are logged when log is not nil.
func Mount(a *api.API, s *Service, find Find, books api.Books, log *slog.Logger) {
	ask := a.Document().Components.Schemas.Schema(reflect.TypeFor[Ask](), true, "")
	a.Handle(api.Route{Access: api.Service, Scope: api.Synthesis, Operation: huma.Operation{
		Method: http.MethodPost, Path: Path, OperationID: "synthesize", Tags: []string{"Speech"},
		Summary: "Speak a text, answered with a WAV file",
		Description: "The whole file comes at once, when all of it has been made; a minute is the longest it may take. " +
			"`voice` and `language` must be sent. Charged by the character (Unicode code point), and only when it has succeeded.",
		MaxBodyBytes: maxBody,
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {Schema: ask,
			Example: map[string]any{"text": "Good morning.", "voice": "F1", "language": "en", "steps": 8}}}},
		Responses: map[string]*huma.Response{"200": {Description: "16-bit PCM, 44.1 kHz, one channel",
			Content: map[string]*huma.MediaType{"audio/wav": {Schema: api.Bytes("audio/wav")}},
			Headers: map[string]*huma.Param{"X-Audio-Duration-Seconds": {Description: "How long it is.",
				Schema: &huma.Schema{Type: "number"}, Example: 1.25}},
		}},
		Errors: []int{http.StatusPaymentRequired, http.StatusGatewayTimeout},
	}}, api.HandlerFunc((&synthesizer{speech: s, find: find, books: books, log: log, gate: upload.NewGate(atOnce, gateWait)}).serve))
}
