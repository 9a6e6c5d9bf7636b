package speech

import (
	"time"

	"github.com/spf13/cobra"

	"parley/cmd/parley/command"
	"parley/cmd/parley/remote/server"
)

// denoised is what was done.
type denoised struct {
	File      string  `json:"file"` // "-": standard output
	Seconds   float64 `json:"seconds"`
	Bytes     int64   `json:"bytes"`
	LatencyMS int64   `json:"latency_ms"` // until the first of the sound came
}

func newDenoiseCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "denoise FILE", Short: "Remove the noise from a recording",
		Long: "Sends a recording, - for standard input, and writes it without its noise as a WAV file of the same rate; without -o to\n" +
			"standard output when that is not a terminal.",
		Example: "  parley denoise street.wav -o clean.wav\n  parley denoise - < street.wav | parley transcribe -",
		Args:    cobra.ExactArgs(1)}
	out := cmd.Flags().StringP("out", "o", "", "WAV file for the clean recording, - for standard output")
	engine := cmd.Flags().String("engine", "", "what cleans it: spectral, or gtcrn, which removes more and takes longer (otherwise spectral)")
	return server.Ask(cmd, "print what was done as one JSON object", func(q *server.Request, args []string) error {
		recording, done, err := openRecording(cmd, args[0])
		if err != nil {
			return err
		}
		defer done()
		var did denoised
		err = q.WriteOutput(*out, func(to *server.Output, show *command.Progress) error {
			began := time.Now()
			recording.Data = show.Reader("uploading", recording.Data, recording.Size)
			audio, err := q.Denoise(q.Ctx, recording, *engine)
			if err != nil {
				return err
			}
			did = denoised{File: to.Path, Seconds: audio.Seconds, LatencyMS: time.Since(began).Milliseconds()}
			did.Bytes, err = server.Save(show, audio, to)
			return err
		})
		if err != nil {
			return err
		}
		return q.Done(did, "%s: %s of sound, cleaned in %d ms\n", did.File, seconds(did.Seconds), did.LatencyMS)
	})
}
