package tts

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"parley/api"
)

// Limits of the ways to ask.
const (
	MaxText     = 5000    // code points: on the socket and in one request
	MaxTaskText = 100_000 // in the background

	StreamSteps  = 6 // of the socket, whatever a client sends
	MaxSteps     = 8
	DefaultSpeed = 1.05
	MinSpeed     = 0.5
	MaxSpeed     = 2.0
)

// Limits are what differs between the ways to ask.
type Limits struct {
	MaxText int // code points
	// StrictSteps refuses steps that are no whole number from 1 to 8. Without it
	// they are not looked at and StreamSteps count.
	StrictSteps bool
}

// The limits of the three ways.
var (
	Streaming = Limits{MaxText: MaxText}
	OneShot   = Limits{MaxText: MaxText, StrictSteps: true}
	Task      = Limits{MaxText: MaxTaskText, StrictSteps: true}
)

// Ask is what a client sends. Fields it does not know are ignored.
type Ask struct {
	Text     string   `json:"text" minLength:"1" maxLength:"5000" doc:"What to say; its length counts in Unicode code points." example:"Good morning."`
	Voice    string   `json:"voice" doc:"F1 to F5 or M1 to M5; there is no default." example:"F1"`
	Language string   `json:"language" required:"false" doc:"One of en es ca gl eu pt fr it de, a region behind it is ignored; there is no default." example:"en"`
	Lang     string   `json:"lang" required:"false" doc:"The same as language, which wins."`
	Speed    *float64 `json:"speed,omitempty" minimum:"0.5" maximum:"2" default:"1.05" doc:"Pace; 1 is the voice's own."`
	Steps    *float64 `json:"steps,omitempty" minimum:"1" maximum:"8" multipleOf:"1" default:"6" doc:"Denoising steps, where the engine has them. The socket always uses 6 and ignores what is sent."`
	Visemes  bool     `json:"visemes,omitempty" doc:"Send mouth shapes, too. Only sockets can."`
	Engine   string   `json:"engine,omitempty" doc:"The name of the engine that speaks, of those of kind tts in GET /api/status/models; without it those that the server uses speak. Only POST /tts/synthesize looks at it." example:"espeak"`
}

// UnmarshalJSON reads an Ask. Steps may be anything, since the socket ignores them:
// what is no number becomes one that no check lets pass.
func (a *Ask) UnmarshalJSON(b []byte) error {
	type plain Ask
	in := struct {
		*plain
		Steps json.RawMessage `json:"steps"`
	}{plain: (*plain)(a)}
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	a.Steps = nil
	if len(in.Steps) > 0 && string(in.Steps) != "null" {
		v, err := strconv.ParseFloat(string(in.Steps), 64)
		if err != nil {
			v = math.NaN()
		}
		a.Steps = &v
	}
	return nil
}

// ParseAsk reads what a client has sent; its errors are ErrBadRequest.
func ParseAsk(b []byte) (Ask, error) {
	var a Ask
	err := json.Unmarshal(b, &a)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		return Ask{}, api.Detail(api.ErrBadRequest, wrong.Field+": it has the wrong type")
	}
	if err != nil {
		return Ask{}, api.Bad("a JSON object is expected")
	}
	return a, nil
}

// Check makes a request of what a client has sent, or refuses with an error of the
// table: ErrBadRequest, ErrTextLength, ErrVoice, ErrLanguage, ErrSpeed, ErrSteps,
// and a detail that names the field.
func (s *Service) Check(a Ask, l Limits) (Request, error) {
	r := Request{Text: a.Text, Speed: DefaultSpeed, Steps: StreamSteps, Visemes: a.Visemes}
	if strings.TrimSpace(a.Text) == "" {
		return Request{}, api.Bad("text: it is missing or blank")
	}
	if n := utf8.RuneCountInString(a.Text); n > l.MaxText {
		return Request{}, api.Detail(api.ErrTextLength, fmt.Sprintf("text: %d characters, at most %d are allowed", n, l.MaxText))
	}
	if r.Voice = Voice(a.Voice); r.Voice == "" {
		return Request{}, api.Detail(api.ErrVoice, wrongName("voice", a.Voice))
	}
	asked := cmp.Or(a.Language, a.Lang)
	if r.Language = Language(asked); r.Language == "" {
		return Request{}, api.Detail(api.ErrLanguage, wrongName("language", asked))
	}
	if a.Speed != nil {
		if r.Speed = *a.Speed; !(r.Speed >= MinSpeed && r.Speed <= MaxSpeed) {
			return Request{}, api.Detail(api.ErrSpeed, fmt.Sprintf("speed: %v", r.Speed))
		}
	}
	if a.Steps != nil && l.StrictSteps {
		if v := *a.Steps; !(v >= 1 && v <= MaxSteps && v == math.Trunc(v)) {
			return Request{}, api.Detail(api.ErrSteps, "steps: "+strconv.FormatFloat(v, 'g', -1, 64))
		}
		r.Steps = int(*a.Steps)
	}
	return r, nil
}

// maxNamed is how much of a wrong name is repeated to the client, in bytes.
const maxNamed = 40

func wrongName(field, value string) string {
	if value == "" {
		return field + ": it is missing"
	}
	if len(value) > maxNamed {
		value = value[:maxNamed]
	}
	return fmt.Sprintf("%s: %q is none", field, value)
}
