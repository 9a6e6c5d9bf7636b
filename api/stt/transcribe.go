package stt

import (
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"parley/api"
	"parley/api/upload"
	"parley/api/wire"
	"parley/billing"
	"parley/media"
	"parley/media/isolate"
	"parley/media/transcode"
	"parley/media/wav"
)

const (
	// maxBody is a file of the greatest length in base64, and the JSON or the form
	// around it.
	maxBody = (upload.MaxFile+2)/3*4 + 64<<10
	// bodyWait is how long a client may take to send it.
	bodyWait = time.Minute
	// epilogue is what may follow a form and is read away, in bytes: a client's
	// going is noticed only behind the end of the body.
	epilogue = 4 << 10
	// patience is how long a recording may take besides its own length.
	patience = time.Minute
	// defaultRate is the rate of audio without a header.
	defaultRate = media.Rate16k
)

// request is a recording to transcribe, however it was sent.
type request struct {
	audio    []byte
	source   transcode.Source
	language string // a tag as the client writes it
}

// transcribe is POST /stt/transcribe.
func (s *service) transcribe(w http.ResponseWriter, r *http.Request) error {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")) // empty when it makes no sense
	read := fromForm
	switch kind {
	case "multipart/form-data":
	case "application/json":
		read = fromJSON
	default:
		return api.Detail(api.ErrMediaType, "Send multipart/form-data with a file named audio, or application/json.")
	}
	ctx := r.Context()
	p := api.PrincipalOf(ctx)
	leave, err := s.jobs.Enter(ctx, p.Account)
	if err != nil {
		return err
	}
	defer leave()
	in, err := read(w, r)
	if err != nil {
		return err
	}
	began := time.Now()
	answer, err := s.answer(ctx, p, in)
	if err == nil {
		answer.LatencyMS = time.Since(began).Milliseconds()
		api.WriteJSON(w, http.StatusOK, answer)
	}
	return err
}

// fromForm reads a form.
func fromForm(w http.ResponseWriter, r *http.Request) (request, error) {
	a, err := upload.Read(w, r)
	if err != nil {
		return request{}, err
	}
	_, _ = io.CopyN(io.Discard, r.Body, epilogue) // what is wrong behind the form does not matter
	in := request{audio: a.Data, language: a.Fields["language"]}
	if text := strings.TrimSpace(a.Fields["sample_rate"]); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n <= 0 {
			return request{}, badRate
		}
		in.source.Rate, err = headerless(n)
		if err != nil {
			return request{}, err
		}
	}
	return in, nil
}

var badRate = api.Bad("sample_rate must be a whole number from 4000 to 192000.")

// headerless is a rate that a client gives for audio without a header.
func headerless(n int) (media.Rate, error) {
	if n < 4000 || n > 192000 {
		return 0, badRate
	}
	return media.Rate(n), nil
}

// fromJSON reads a JSON body.
func fromJSON(w http.ResponseWriter, r *http.Request) (in request, err error) {
	var body struct {
		Audio      []byte  `json:"audio"`
		Format     string  `json:"format"`
		SampleRate *int    `json:"sample_rate"`
		Language   *string `json:"language"`
	}
	api.SetBodyPatience(w, bodyWait)
	text, err := upload.ReadAll(r.Body, maxBody, r.ContentLength)
	if err != nil {
		return in, api.ReadError(err)
	}
	if err := json.Unmarshal(text, &body); err != nil {
		return in, api.Bad("The body must be a JSON object: audio is base64, format and language are strings, sample_rate is a whole number.")
	}
	if len(body.Audio) > upload.MaxFile {
		return in, api.ErrTooLarge
	}
	if body.Audio == nil {
		return in, api.Bad("There is no audio in the request.")
	}
	in.audio = body.Audio
	if body.Language != nil {
		in.language = *body.Language
	}
	switch body.Format {
	case "", "pcm16":
		in.source.Rate = defaultRate
		if body.SampleRate != nil {
			if in.source.Rate, err = headerless(*body.SampleRate); err != nil {
				return in, err
			}
		}
		if body.Format != "" && transcode.Sniff(in.audio) != transcode.WAV {
			in.source.Format = transcode.PCM // some samples look like the header of a compressed frame
		}
	case "wav":
	default:
		return in, api.Bad("format must be pcm16 or wav.")
	}
	return in, nil
}

// answer decodes and recognises a recording and charges for it.
func (s *service) answer(ctx context.Context, p api.Principal, in request) (*wire.Transcription, error) {
	language, err := heard(s.asr, in.language)
	if err != nil {
		return nil, err
	}
	own, empty := look(in)
	answer := &wire.Transcription{Language: spoken(s.asr, language), Engine: s.asr.Info().Name, SampleRate: int(own), Segments: []wire.TranscriptionSegment{}}
	if empty { // nothing to charge for: what is asked of the account is only that it may
		work, err := s.books.Begin(ctx, p, api.Job{Kind: billing.STT})
		if err != nil {
			return nil, err
		}
		work.End(nil)
		return answer, nil
	}
	clip, err := transcode.Decode(ctx, in.audio, transcode.Options{Source: in.source, Rate: rate})
	if err != nil {
		return nil, upload.Fault(err)
	}
	defer clip.Close()
	answer.Duration = round(clip.Duration().Seconds())
	ctx, cancel := context.WithTimeout(ctx, patience+clip.Duration())
	defer cancel()
	ms := (clip.Duration() + time.Millisecond - 1).Milliseconds()
	work, err := s.books.Begin(ctx, p, api.Job{Kind: billing.STT, Expected: ms})
	if err != nil {
		return nil, err
	}
	defer work.End(isolate.Internal) // where nothing else has: a panic
	answer.Segments, err = s.recognise(work.Context(), clip, language)
	if err == nil && work.Context().Err() != nil {
		err = context.Cause(work.Context()) // the client has gone
	}
	if err != nil {
		if work.Context().Err() != nil {
			err = api.Stopped(context.Cause(work.Context()))
		}
		work.End(err)
		return nil, err
	}
	work.Used(ms)
	work.End(nil)
	for _, g := range answer.Segments {
		answer.Text = join(answer.Text, g.Text)
	}
	return answer, nil
}

// look finds out the rate of a recording and whether there is nothing in it,
// which is no fault of a file. What has to be decoded for that has the rate that
// it is decoded to.
func look(in request) (own media.Rate, empty bool) {
	if len(in.audio) == 0 {
		return rate, true
	}
	format := in.source.Format
	if format == "" {
		format = transcode.Sniff(in.audio)
	}
	switch {
	case format == transcode.WAV:
		a, err := wav.Parse(in.audio)
		if err != nil {
			return rate, false // compressed, or Decode says what is wrong
		}
		return a.Rate, a.Samples() == 0
	case format == transcode.PCM, format == "" && in.source.Rate != 0:
		return in.source.Rate, len(in.audio) < 2
	}
	return rate, false
}
