package inworld

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"parley/inference"
	"parley/inference/synthesiser"
	"parley/media"
	"parley/media/wav"
)

// answer is a message of Inworld's.
type answer struct {
	Result struct {
		Context string `json:"contextId"`
		Status  status `json:"status"`
		Audio   *struct {
			Content []byte `json:"audioContent"`
			Times   struct {
				Words struct {
					Words []string  `json:"words"`
					Start []float64 `json:"wordStartTimeSeconds"`
					End   []float64 `json:"wordEndTimeSeconds"`
				} `json:"wordAlignment"`
			} `json:"timestampInfo"`
		} `json:"audioChunk"`
		Flushed *struct{} `json:"flushCompleted"`
		Closed  *struct{} `json:"contextClosed"`
	} `json:"result"`
	Error *status `json:"error"` // of the socket
}

// status is how something went, in the codes of gRPC; 0: well.
type status struct {
	Code int `json:"code"`
}

// Read implements synthesiser.Vendor. A context that Inworld does not know, because it is over, is nobody's here either.
func (v *vendor) Read(data []byte, _ bool) (p synthesiser.Piece, ok bool, err error) {
	var m answer
	if json.Unmarshal(data, &m) != nil {
		return p, false, v.fault(inference.ErrFailed, "a message that is not JSON")
	}
	if m.Error != nil {
		return p, false, v.failed(m.Error.Code)
	}
	r := m.Result
	p.Context, p.Restarts = r.Context, true
	switch {
	case r.Status.Code != 0:
		p.Err = v.failed(r.Status.Code)
	case r.Audio != nil:
		b := samples(r.Audio.Content)
		p.Samples = media.AppendSamples(make([]int16, 0, len(b)/2), b)
		w := r.Audio.Times.Words
		p.Words = synthesiser.Marks(w.Words, w.Start, w.End)
	case r.Flushed != nil:
		p.Flushed = true
	case r.Closed != nil:
		p.Done = true
	}
	return p, p.Context != "", nil
}

// samples are the bytes of a chunk's, which may come as a WAV file.
func samples(b []byte) []byte {
	if bytes.HasPrefix(b, []byte("RIFF")) {
		rest := bytes.NewReader(b)
		if _, err := wav.ReadHeader(rest); err == nil {
			b = b[len(b)-rest.Len():]
		}
	}
	return b
}

// Codes of gRPC.
const (
	invalidArgument   = 3
	notFound          = 5
	permissionDenied  = 7
	resourceExhausted = 8
	unauthenticated   = 16
)

func (v *vendor) failed(code int) error {
	fault := inference.ErrFailed
	switch code {
	case resourceExhausted:
		fault = inference.ErrUnavailable
	case invalidArgument, notFound, permissionDenied, unauthenticated:
		fault = inference.ErrRefused
	}
	return &inference.Error{Engine: v.name, Fault: fault, Err: fmt.Errorf("status %d", code), Key: code == permissionDenied || code == unauthenticated}
}

func (v *vendor) fault(f inference.Fault, text string) error {
	return &inference.Error{Engine: v.name, Fault: f, Err: errors.New(text)}
}
