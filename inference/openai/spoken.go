package openai

import (
	"encoding/json"
	"errors"
	"io"

	"parley/inference"
	"parley/inference/remote"
)

// spoken reads the samples of a body of server-sent events. Its end is the event that says what is charged.
type spoken struct {
	a    speech
	in   *remote.Events
	left []byte // of the latest event
	err  error  // after it
}

// spokenEvent is one event. Samples are met under two names.
type spokenEvent struct {
	Type  string `json:"type"`
	Audio []byte `json:"audio"`
	Delta []byte `json:"delta"`
	Usage struct {
		In  int `json:"input_tokens"`
		Out int `json:"output_tokens"`
	} `json:"usage"`
	Error *struct{} `json:"error"`
}

// Read implements io.Reader. A body that ends otherwise is a fault.
func (s *spoken) Read(p []byte) (int, error) {
	for len(s.left) == 0 {
		if s.err != nil {
			return 0, s.err
		}
		s.next()
	}
	n := copy(p, s.left)
	s.left = s.left[n:]
	return n, nil
}

// next takes an event.
func (s *spoken) next() {
	data, err := s.in.Next()
	var e spokenEvent
	switch {
	case err == io.EOF:
		s.err = s.a.Fault(inference.ErrFailed, io.ErrUnexpectedEOF)
		return
	case errors.Is(err, remote.ErrLine), errors.Is(err, remote.ErrStream):
		s.err = s.a.Fault(inference.ErrFailed, err)
		return
	case err != nil:
		s.err = err
		return
	case json.Unmarshal(data, &e) != nil:
		s.err = s.a.Fault(inference.ErrFailed, errors.New("an event that is not JSON"))
		return
	}
	s.left = append(e.Audio, e.Delta...)
	switch {
	case e.Error != nil:
		s.err = s.a.Fault(inference.ErrFailed, errors.New("error in the stream"))
	case e.Type == "speech.audio.done":
		if u := s.a.usage; e.Usage.In >= 0 && e.Usage.Out > 0 {
			u.In, u.AudioOut, u.Source = e.Usage.In, e.Usage.Out, inference.UsageProvider
		}
		s.err = io.EOF
	}
}
