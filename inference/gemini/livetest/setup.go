package livetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest/loopbacktest"
	"parley/inference/gemini/geminitest"
)

// setup is the first message of a session.
type setup struct {
	Model      string `json:"model"`
	Generation struct {
		Modalities []string `json:"responseModalities"`
		Speech     struct {
			Voice struct {
				Prebuilt struct {
					Name string `json:"voiceName"`
				} `json:"prebuiltVoiceConfig"`
			} `json:"voiceConfig"`
			Language string `json:"languageCode"`
		} `json:"speechConfig"`
		Thinking    geminitest.Thinking `json:"thinkingConfig"`
		Temperature *float64            `json:"temperature"`
		TopP        *float64            `json:"topP"`
		TopK        *int                `json:"topK"`
		Most        *int                `json:"maxOutputTokens"`
		Seed        *int                `json:"seed"`
		Resolution  string              `json:"mediaResolution"`
		Affective   bool                `json:"enableAffectiveDialog"`
	} `json:"generationConfig"`
	System   *content          `json:"systemInstruction"`
	Tools    []geminitest.Tool `json:"tools"`
	Realtime struct {
		Detection struct {
			Disabled bool   `json:"disabled"`
			Start    string `json:"startOfSpeechSensitivity"`
			End      string `json:"endOfSpeechSensitivity"`
			Padding  *int   `json:"prefixPaddingMs"`
			Silence  *int   `json:"silenceDurationMs"`
		} `json:"automaticActivityDetection"`
		Handling string `json:"activityHandling"`
		Coverage string `json:"turnCoverage"`
	} `json:"realtimeInputConfig"`
	In         *transcription  `json:"inputAudioTranscription"`
	Out        *transcription  `json:"outputAudioTranscription"`
	Resumption *resumption     `json:"sessionResumption"`
	Window     json.RawMessage `json:"contextWindowCompression"`
	History    struct {
		Initial bool `json:"initialHistoryInClientContent"`
	} `json:"historyConfig"`
	Proactivity struct {
		Audio bool `json:"proactiveAudio"`
	} `json:"proactivity"`
}

// transcription is which languages a transcription is in; empty: any.
type transcription struct {
	Languages []string `json:"languageCodes"`
}

// resumption asks for handles, and gives one.
type resumption struct {
	Handle json.RawMessage `json:"handle"`
}

// defaultSilence ends the caller's activity when the setup does not name one.
const defaultSilence = 800 * time.Millisecond

var (
	models    = regexp.MustCompile(`^models/gemini-[\w.-]*(live|native-audio)[\w.-]*$`)
	languages = regexp.MustCompile(`^[a-z]{2,3}-[A-Z0-9]{2,3}$`)
	voices    = strings.Fields("Zephyr Puck Charon Kore Fenrir Leda Orus Aoede Callirrhoe Autonoe Enceladus Iapetus Umbriel Algieba Despina Erinome " +
		"Algenib Rasalgethi Laomedeia Achernar Alnilam Schedar Gacrux Pulcherrima Achird Zubenelgenubi Vindemiatrix Sadachbia Sadaltager Sulafat")
)

// enums are the values of fields that have few.
var enums = map[string][]string{
	"activityHandling":         {"ACTIVITY_HANDLING_UNSPECIFIED", "START_OF_ACTIVITY_INTERRUPTS", noInterruption},
	"turnCoverage":             {"TURN_COVERAGE_UNSPECIFIED", "TURN_INCLUDES_ONLY_ACTIVITY", "TURN_INCLUDES_ALL_INPUT", "TURN_INCLUDES_AUDIO_ACTIVITY_AND_ALL_VIDEO"},
	"startOfSpeechSensitivity": {"START_SENSITIVITY_UNSPECIFIED", "START_SENSITIVITY_HIGH", "START_SENSITIVITY_LOW"},
	"endOfSpeechSensitivity":   {"END_SENSITIVITY_UNSPECIFIED", "END_SENSITIVITY_HIGH", "END_SENSITIVITY_LOW"},
	"thinkingLevel":            {"THINKING_LEVEL_UNSPECIFIED", "MINIMAL", "LOW", "MEDIUM", "HIGH"},
	"responseModalities":       {"TEXT", "AUDIO"},
	"scheduling":               {"SCHEDULING_UNSPECIFIED", "INTERRUPT", "WHEN_IDLE", silent},
	"role":                     {"user", "model"},
}

// Values that change what the fake does.
const (
	noInterruption = "NO_INTERRUPTION"
	silent         = "SILENT"
)

// enum refuses a value that a field does not have; "": the field is missing.
func enum(field, value string) error {
	if value == "" || slices.Contains(enums[field], value) {
		return nil
	}
	return invalid("Invalid value at '%s': \"%s\"", field, value)
}

// third says whether the model is one of 3.x, which take history only at the beginning.
func (s *setup) third() bool { return strings.HasPrefix(s.Model, "models/gemini-3") }

// speaks says whether answers are audio.
func (s *setup) speaks() bool { return !slices.Equal(s.Generation.Modalities, []string{"TEXT"}) }

// interrupts says whether the caller's activity interrupts the model.
func (s *setup) interrupts() bool { return s.Realtime.Handling != noInterruption }

// silence ends the caller's activity.
func (s *setup) silence() time.Duration {
	if ms := s.Realtime.Detection.Silence; ms != nil {
		return time.Duration(*ms) * time.Millisecond
	}
	return defaultSilence
}

func (s *setup) check() error {
	g, d := &s.Generation, &s.Realtime.Detection
	for _, err := range []error{
		enum("activityHandling", s.Realtime.Handling), enum("turnCoverage", s.Realtime.Coverage), enum("startOfSpeechSensitivity", d.Start),
		enum("endOfSpeechSensitivity", d.End), enum("thinkingLevel", g.Thinking.Level),
	} {
		if err != nil {
			return err
		}
	}
	switch {
	case !models.MatchString(s.Model):
		return problem{websocket.ClosePolicyViolation, fmt.Sprintf("%.40s is not found for API version v1beta, or is not supported for bidiGenerateContent.", s.Model)}
	case len(g.Modalities) > 1:
		return invalid("At most one response modality can be specified in the setup request.")
	case len(g.Modalities) == 1 && !slices.Contains(enums["responseModalities"], g.Modalities[0]):
		return invalid("Invalid value at 'responseModalities': \"%s\"", g.Modalities[0])
	case !s.speaks() && strings.Contains(s.Model, "native-audio"):
		return invalid("Cannot extract voices from a non-audio request.")
	case g.Speech.Voice.Prebuilt.Name != "" && !slices.Contains(voices, g.Speech.Voice.Prebuilt.Name):
		return invalid("Requested voice api_name '%.40s' is not available for model %s", g.Speech.Voice.Prebuilt.Name, s.Model)
	case g.Speech.Language != "" && !languages.MatchString(g.Speech.Language):
		return invalid("Unsupported language code '%.20s' for model %s", g.Speech.Language, s.Model)
	case g.Thinking.Level != "" && g.Thinking.Budget != nil:
		return invalid("You can only set only one of thinking budget and thinking level.")
	case d.Padding != nil && *d.Padding < 0 || d.Silence != nil && *d.Silence < 0:
		return invalid("Request contains an invalid argument: a time is below 0.")
	case s.System != nil && len(s.System.Parts) == 0:
		return invalid("Request contains an invalid argument: systemInstruction has no parts.")
	case s.third() && s.Resumption != nil && string(s.Resumption.Handle) == "null":
		return invalid("Request contains an invalid argument.")
	}
	if err := s.checkWindow(); err != nil {
		return err
	}
	if err := geminitest.CheckTools(s.Tools); err != nil {
		return invalid("%s", err)
	}
	return nil
}

// checkWindow checks the compression. Numbers of 64 bits may be texts.
func (s *setup) checkWindow() error {
	if len(s.Window) == 0 {
		return nil
	}
	var w struct {
		Sliding *struct {
			Target json.Number `json:"targetTokens"`
		} `json:"slidingWindow"`
		Trigger json.Number `json:"triggerTokens"`
	}
	if err := strict(s.Window, &w); err != nil {
		return err
	}
	if w.Sliding == nil {
		return invalid("Request contains an invalid argument: contextWindowCompression has no mechanism.")
	}
	return nil
}

// strict decodes JSON and refuses fields that v does not have.
func strict(data []byte, v any) error {
	err := loopbacktest.Strict(data, v)
	var field loopbacktest.UnknownField
	switch {
	case err == nil:
		return nil
	case errors.As(err, &field):
		return invalid("Invalid JSON payload received. Unknown name \"%.40s\": Cannot find field.", string(field))
	}
	return invalid("Invalid JSON payload received. %.60s", err.Error())
}
