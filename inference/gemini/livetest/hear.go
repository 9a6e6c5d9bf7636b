package livetest

import (
	"encoding/base64"
	"regexp"
	"strconv"

	"parley/inference/enginetest/hearingtest"
	"parley/inference/enginetest/loopbacktest"
)

// mimes are the types of audio that are heard.
var mimes = regexp.MustCompile(`^audio/pcm(?:;rate=(\d{4,5}))?$`)

// The rates that audio can have, and that of audio which names none.
const (
	leastRate   = 8000
	mostRate    = 48000
	defaultRate = 16000
)

// input does what a message of the caller asks for.
func (s *session) input(m *realtimeInput) error {
	if !one(m.Audio != nil, m.Ended, m.Start != nil, m.End != nil, m.Text != "") {
		return invalid("Request contains an invalid argument: not exactly one kind of realtime input.")
	}
	manual := s.setup.Realtime.Detection.Disabled
	switch {
	case m.Audio != nil:
		return s.audio(m.Audio.Type, m.Audio.Data)
	case m.Text != "":
		if s.turn != nil && s.setup.interrupts() {
			s.interrupt()
		}
		s.remember(Content{Role: "user", Text: m.Text})
		s.answer()
		return nil
	case m.Ended && manual:
		return invalid("audioStreamEnd is not supported when automatic activity detection is disabled.")
	case !m.Ended && !manual:
		return invalid("Explicit activity control is not supported when automatic activity detection is enabled.")
	case m.Start != nil && s.active, m.End != nil && !s.active:
		return invalid("Request contains an invalid argument: activityStart and activityEnd take turns.")
	case m.Start != nil:
		s.starts()
	case s.active:
		s.ends()
	}
	return nil
}

// audio hears the caller.
func (s *session) audio(mime, data string) error {
	match := mimes.FindStringSubmatch(mime)
	if match == nil {
		return invalid("Unsupported input audio type: %.40s", mime)
	}
	rate := defaultRate
	if match[1] != "" {
		rate, _ = strconv.Atoi(match[1])
	}
	samples, err := base64.StdEncoding.DecodeString(data)
	switch {
	case rate < leastRate || rate > mostRate:
		return invalid("Unsupported sample rate: %d", rate)
	case s.hear != nil && mime != s.mime:
		return invalid("The sample rate of the audio cannot change.")
	case err != nil:
		return invalid("Invalid value at 'realtime_input.audio.data': Base64 decoding failed")
	case len(samples) == 0 || len(samples)%2 != 0:
		return invalid("Request contains an invalid argument: %d bytes of audio are no whole samples.", len(samples))
	}
	if s.hear == nil {
		s.hear, s.mime = s.server.dialogue.Listen(s.server, loopbacktest.S16, rate), mime
	}
	s.hear.Hear(samples, s.step)
	return nil
}

// step says what follows from one frame.
func (s *session) step(got hearingtest.Heard) {
	manual := s.setup.Realtime.Detection.Disabled
	if !manual && !s.active && got.Loud {
		s.starts()
	}
	if !s.active {
		return
	}
	s.voiced += hearingtest.Frame
	s.transcribe(got.Words)
	if !manual && !got.Loud && s.hear.Now-s.hear.LastLoud >= s.setup.silence() {
		s.ends()
	}
}

// starts begins the caller's turn.
func (s *session) starts() {
	s.active, s.voiced, s.words = true, 0, nil
	s.voice("ACTIVITY_START")
	if s.turn != nil && s.setup.interrupts() {
		s.interrupt()
	}
}

// ends ends the caller's turn, which is answered.
func (s *session) ends() {
	s.active = false
	if s.hear != nil {
		s.transcribe(s.hear.Cut())
	}
	if s.setup.In != nil && s.server.script.Spelling.Finished {
		s.content(map[string]any{"inputTranscription": map[string]any{"finished": true}})
	}
	s.voice("ACTIVITY_END")
	s.server.dialogue.Final(s.words)
	s.remember(Content{Role: "user", Text: hearingtest.Text(hearingtest.Shown(s.words), false), Audio: s.voiced})
	s.answer()
}

// voice says that the caller begins or ends, where the script wants it.
func (s *session) voice(kind string) {
	if s.server.script.Spelling.Activity {
		s.send(map[string]any{"voiceActivity": map[string]any{"voiceActivityType": kind}})
	}
}

// transcribe adds words to the caller's turn.
func (s *session) transcribe(words []hearingtest.Word) {
	for _, w := range words {
		text := w.Text
		if len(s.words) > 0 {
			text = " " + text
		}
		s.words = append(s.words, w)
		if s.setup.In != nil && !w.Of.EmptyFinal {
			s.content(map[string]any{"inputTranscription": map[string]any{"text": text}})
		}
	}
}
