package recording

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"

	"parley/api"
	"parley/api/wire"
	"parley/media/record"
	"parley/store"
	"parley/store/history"
)

func (s *Service) mountPeaks(a *api.API) {
	api.Register(a, routes.Get(path+"/peaks", "get-call-waveform", "Fetch the waveform of a recording",
		"How loud each side was over the time of the recording, in at most 1,200 equal parts: enough to draw it, however long it is, without its audio. "+
			"It is made with the recording, and goes with it.",
		http.StatusNotFound, http.StatusConflict, http.StatusGone), s.peaks)
}

// peaks is GET of the waveform. That of a recording that was encoded without one it makes and
// keeps. Its errors are those of the recording itself.
func (s *Service) peaks(ctx context.Context, in *callInput) (*api.Reply[wire.Waveform], error) {
	account, call := api.AccountOf(ctx), in.ID
	r, err := s.history.Recording(ctx, account, call)
	if err != nil {
		return nil, err
	}
	switch {
	case r.State == history.RecordingRuns, r.State == history.RecordingEncodes:
		return nil, api.ErrAudioPending
	case r.State != history.RecordingReady, !s.Store.Now().Before(r.ExpiresAt):
		return nil, api.ErrAudioGone
	}
	peaks, err := s.history.RecordingPeaks(ctx, account, call)
	if err == nil && peaks == nil {
		peaks, err = s.late(ctx, r)
	}
	if err != nil {
		return nil, err
	}
	n := len(peaks) / record.Channels
	w := wire.Waveform{Duration: r.Length.Seconds(), Caller: make([]int, n), Agent: make([]int, n)}
	for i := range n {
		w.Caller[i], w.Agent[i] = int(peaks[i]), int(peaks[n+i])
	}
	return api.Body(w), nil
}

// wavHeader is what comes before the audio in WAV files of ours, in bytes.
const wavHeader = 44

// late makes the waveform of a recording that is ready.
func (s *Service) late(ctx context.Context, r *history.Recording) ([]byte, error) {
	file, format, err := s.open(ctx, r, "wav", s.Store.Now())
	if err != nil {
		return nil, err
	}
	defer file.Close()
	audio, size := io.ReadSeeker(file), file.Size
	if format != r.Format {
		copied, length, done, err := s.wav(ctx, r)
		if err != nil {
			return nil, err
		}
		defer done()
		audio, size = copied, length
	}
	if _, err := audio.Seek(min(wavHeader, size), io.SeekStart); err != nil {
		return nil, err
	}
	peaks, err := record.Peaks(audio, max(0, size-wavHeader))
	if err != nil {
		return nil, err
	}
	if err := s.history.SavePeaks(ctx, r.Account, r.Call, peaks); err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	return peaks, nil
}

// peaksOf is the waveform of a raw recording.
func peaksOf(raw *os.File) ([]byte, error) {
	info, err := raw.Stat()
	if err != nil {
		return nil, err
	}
	return record.Peaks(io.NewSectionReader(raw, 0, info.Size()), info.Size())
}
