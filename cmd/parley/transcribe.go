package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"parley/api/client"
)

// heard are the languages that can be recognised.
var heard = []string{"en", "es", "pt", "fr", "it", "de"}

// transcription holds the flags of the transcribe command.
type transcription struct {
	remote
	language   string
	live, json bool
}

func newTranscribeCommand() *cobra.Command {
	var t transcription
	cmd := &cobra.Command{Use: "transcribe FILE", Short: "Write down what a recording says",
		Long: "Sends a recording, - for standard input, and prints what is said in it. Any container that the server's ffmpeg reads\n" +
			"will do; without ffmpeg it reads WAV files. With --live a WAV file, or raw samples (Int16, 16 kHz, mono), is sent at the\n" +
			"pace of speech and understood as it comes; on a terminal unfinished lines are shown too.",
		Example: "  parley transcribe testdata/speech/opening-hours.wav\n  parley transcribe message.ogg --language es --json\n" +
			"  arecord -q -f S16_LE -r 16000 -t raw | parley transcribe - --live",
		Args: cobra.ExactArgs(1)}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if t.live {
			return t.listen(cmd, args[0])
		}
		return t.send(cmd, args[0])
	}
	t.add(cmd)
	cmd.Flags().StringVar(&t.language, "language", "", strings.Join(heard, " ")+"; without it the server finds it out")
	cmd.Flags().BoolVar(&t.live, "live", false, "while it is spoken")
	cmd.Flags().BoolVar(&t.json, "json", false, "print one JSON object, with the time of each piece")
	complete(cmd, map[string][]string{"language": heard})
	return cmd
}

// send has a whole recording recognised.
func (t *transcription) send(cmd *cobra.Command, path string) error {
	c, err := t.client()
	if err != nil {
		return err
	}
	ctx, stop := interruptible(cmd)
	defer stop()
	recording, done, err := openRecording(cmd, path)
	if err != nil {
		return err
	}
	defer done()
	show := newProgress(cmd, t.json)
	defer show.end()
	recording.Data = show.reader("uploading", recording.Data, recording.Size)
	got, err := c.Transcribe(ctx, recording, t.language)
	if err != nil {
		return err
	}
	show.end()
	if t.json {
		if got.Segments == nil {
			got.Segments = []client.Segment{}
		}
		return result(cmd, true, got)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s of sound, language %s, recognised in %.0f ms\n", seconds(got.Seconds), got.Language, got.LatencyMS)
	_, err = fmt.Fprintln(cmd.OutOrStdout(), got.Text)
	return err
}
