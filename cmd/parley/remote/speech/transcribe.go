package speech

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"parley/api/wire"
	"parley/cmd/parley/command"
	"parley/cmd/parley/remote/server"
)

// heard are the languages that can be recognised.
var heard = []string{"en", "es", "pt", "fr", "it", "de"}

func newTranscribeCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "transcribe FILE", Short: "Write down what a recording says",
		Long: "Sends a recording, - for standard input, and prints what is said in it. Any container that the server's ffmpeg reads\n" +
			"will do; without ffmpeg it reads WAV files. With --live a WAV file, or raw samples (Int16, 16 kHz, mono), is sent at the\n" +
			"pace of speech and understood as it comes; on a terminal unfinished lines are shown too.",
		Example: "  parley transcribe testdata/speech/opening-hours.wav\n  parley transcribe message.ogg --language es --json\n" +
			"  arecord -q -f S16_LE -r 16000 -t raw | parley transcribe - --live",
		Args: cobra.ExactArgs(1)}
	language := cmd.Flags().String("language", "", strings.Join(heard, " ")+"; without it the server finds it out")
	live := cmd.Flags().Bool("live", false, "while it is spoken")
	command.Complete(cmd, map[string][]string{"language": heard})
	return server.Ask(cmd, "print one JSON object, with the time of each piece", func(q *server.Request, args []string) error {
		if *live {
			return listen(q, args[0], *language)
		}
		return transcribe(q, args[0], *language)
	})
}

// transcribe has a whole recording recognised.
func transcribe(q *server.Request, path, language string) error {
	recording, done, err := openRecording(q.Command, path)
	if err != nil {
		return err
	}
	defer done()
	show := command.NewProgress(q.Command, q.JSON)
	defer show.End()
	recording.Data = show.Reader("uploading", recording.Data, recording.Size)
	got, err := q.Transcribe(q.Ctx, recording, language)
	if err != nil {
		return err
	}
	show.End()
	if got.Segments == nil {
		got.Segments = []wire.TranscriptionSegment{}
	}
	if !q.JSON {
		fmt.Fprintf(q.ErrOrStderr(), "%s of sound, language %s, recognised in %.0f ms\n", seconds(got.Seconds), got.Language, got.LatencyMS)
	}
	return q.AnswerText(got, got.Text+"\n")
}
