package mcp

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"unicode/utf8"

	"parley/api"
	"parley/api/tts"
	"parley/billing"
	"parley/media/isolate"
	"parley/media/wav"
)

// synthesize speaks what the arguments of a call say, for the account that asks,
// and returns a WAV file. It is charged when all of it could be spoken, and
// free when there is nothing in it to speak.
func (t *Tools) synthesize(v *toolCall, arguments []byte) ([]byte, error) {
	ask, err := tts.ParseAsk(arguments)
	if err != nil {
		return nil, err
	}
	r, err := t.Voice.Check(ask, tts.OneShot)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(v.ctx, patience)
	defer cancel()
	p := api.PrincipalOf(ctx)
	n := int64(utf8.RuneCountInString(r.Text))
	gate := t.long
	if n <= shortText {
		gate = t.short
	}
	if v.leave, err = gate.Enter(ctx, p.Account); err != nil {
		return nil, err
	}
	work, err := t.Books.Begin(ctx, p, billing.TTS, n)
	if err != nil {
		return nil, err
	}
	defer work.End(isolate.Internal) // where nothing else has: a panic
	file, spoken, err := t.record(work.Context(), r)
	if err == nil && spoken {
		work.Used(n)
	}
	work.End(err) // before the answer, so that the client's next request finds the place free
	if err != nil && !errors.Is(err, context.Canceled) && api.ProblemOf(err).Status >= 500 {
		t.Log.Warn("synthesis failed", "account", p.Account, "err", err)
	}
	return file, err
}

// record speaks a request into a WAV file. spoken is false when nothing in the text
// can be spoken.
func (t *Tools) record(ctx context.Context, r tts.Request) (wave []byte, spoken bool, err error) {
	var file bytes.Buffer
	if err := wav.WriteHeader(&file, tts.Rate, 0); err != nil {
		return nil, false, err
	}
	head := file.Len()
	for chunk, err := range t.Voice.Speak(ctx, r) {
		if err != nil {
			return nil, false, api.Stopped(err)
		}
		b := file.AvailableBuffer()
		for _, v := range chunk.Samples {
			b = binary.LittleEndian.AppendUint16(b, uint16(v))
		}
		file.Write(b)
	}
	// Only now is the length known that the header must say.
	var header bytes.Buffer
	if err := wav.WriteHeader(&header, tts.Rate, int64(file.Len()-head)/2); err != nil {
		return nil, false, err
	}
	copy(file.Bytes(), header.Bytes())
	return file.Bytes(), file.Len() > head, nil
}
