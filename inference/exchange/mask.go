package exchange

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// varying are the fields of messages that differ from one run to the next.
var varying = []string{"request_id", "id", "created", "sha256", "transaction_key", "step_time", "expires_at", "session_duration_seconds", "speech_id", "session_id", "audioContent"}

// Masked is a vendor's message without what varies, its fields in the order of their names. Of base64 audio only the length
// is kept.
func Masked(message []byte) (json.RawMessage, error) {
	var v any
	if err := json.Unmarshal(message, &v); err != nil {
		return nil, err
	}
	mask(v)
	return json.Marshal(v)
}

func mask(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range varying {
			if _, ok := v[name].(string); ok {
				v[name] = "…"
			} else if _, ok := v[name].(float64); ok {
				v[name] = 0
			}
		}
		for _, name := range []string{"data", "audio", "delta"} {
			kind, _ := v["type"].(string)
			if audio, ok := v[name].(string); ok && (name != "delta" || strings.HasSuffix(kind, "audio.delta")) {
				v[name] = characters(audio)
			}
		}
		for _, inner := range v {
			mask(inner)
		}
	case []any:
		for _, inner := range v {
			mask(inner)
		}
	}
}

// characters stands for a text of which only the length is kept.
func characters(text string) string { return fmt.Sprintf("%d characters", len(text)) }

// Secret is a key that must not be recorded; empty: there is none.
type Secret string

var (
	// term is a word of a protocol: a type, a model, an encoding, an identifier.
	term = regexp.MustCompile(`^[-.]?[A-Za-z0-9]+([_./:;=+-]+[A-Za-z0-9]+)*$`)
	// mark is one that stands where a text does: <end>, or what is left of one.
	mark = regexp.MustCompile(`^(<[a-z]+>|[0-9]+ characters)$`)
)

const (
	maxTerm = 64  // bytes
	maxText = 400 // of a text that keeps its form; a longer one is audio, or as good as that
)

// spoken are the fields that hold texts of people, by their names in small letters without underscores.
var spoken = strings.Fields(`arguments args audiotranscript chars content delta description detail details errmsg errormessage input instructions keyterm keyterms
	keytermsprompt keywords message msg name normalizedtext output parts partialjson previoustext prompt punctuatedword refusal summary system systeminstruction tag
	terms text thinking title tokens transcript utterance word words`)

// Hidden is a message without the words of people and the key: a text keeps its spaces, its signs and its length, of which only the
// last is kept when it is long. Types, models, numbers and times stay. ok is false when it is no JSON.
func (s Secret) Hidden(message []byte) (hidden json.RawMessage, ok bool) {
	var v any
	if json.Unmarshal(message, &v) != nil {
		return nil, false
	}
	hidden, err := json.Marshal(s.hide("", v))
	return hidden, err == nil
}

// hide is v, the value of a field of that name.
func (s Secret) hide(name string, v any) any {
	switch v := v.(type) {
	case string:
		return s.text(name, v)
	case []any:
		for i := range v {
			v[i] = s.hide(name, v[i])
		}
	case map[string]any:
		for inner := range v {
			v[inner] = s.hide(inner, v[inner])
		}
	}
	return v
}

// text is a text of a field.
func (s Secret) text(name, text string) string {
	name = strings.ToLower(strings.ReplaceAll(name, "_", ""))
	switch {
	case len(text) > maxText:
		return characters(text)
	case s != "" && strings.Contains(text, string(s)):
	case mark.MatchString(text), len(text) <= maxTerm && term.MatchString(text) && !slices.Contains(spoken, name):
		return text
	}
	return Form(text)
}

// Word is a message that is no JSON. It stays where it is a word of a protocol, in brackets or not.
func (s Secret) Word(message string) string {
	if bare := strings.Trim(message, "[]"); s.text("", bare) == bare {
		return message
	}
	return s.text("text", message)
}

// Form is a text whose letters are x and whose digits are 0.
func Form(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsUpper(r):
			return 'X'
		case unicode.IsLetter(r):
			return 'x'
		case unicode.IsDigit(r):
			return '0'
		}
		return r
	}, text)
}

// Path is a path and its query without the words of people and the key.
func (s Secret) Path(path string) string {
	path, query, asked := strings.Cut(path, "?")
	if s != "" && strings.Contains(path, string(s)) {
		path = Form(path)
	}
	if !asked {
		return path
	}
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(value); err != nil || s.text(name, plain) != plain {
			pairs[i] = name + "=" + url.QueryEscape(Form(plain))
		}
	}
	return path + "?" + strings.Join(pairs, "&")
}
