package webrtc

import (
	"fmt"
	"log/slog"

	"github.com/pion/logging"
)

// loggers give the library one that says what it says at debug level: most of it concerns
// packets of unknown senders.
type loggers struct{ log *slog.Logger }

// NewLogger implements logging.LoggerFactory.
func (l loggers) NewLogger(scope string) logging.LeveledLogger {
	return quiet{l.log.With("scope", scope)}
}

// quiet implements logging.LeveledLogger.
type quiet struct{ log *slog.Logger }

func (quiet) Trace(string)          {}
func (quiet) Tracef(string, ...any) {}
func (quiet) Debug(string)          {}
func (quiet) Debugf(string, ...any) {}

func (q quiet) Info(msg string)              { q.log.Debug(msg) }
func (q quiet) Infof(f string, args ...any)  { q.log.Debug(fmt.Sprintf(f, args...)) }
func (q quiet) Warn(msg string)              { q.log.Debug(msg) }
func (q quiet) Warnf(f string, args ...any)  { q.log.Debug(fmt.Sprintf(f, args...)) }
func (q quiet) Error(msg string)             { q.log.Debug(msg) }
func (q quiet) Errorf(f string, args ...any) { q.log.Debug(fmt.Sprintf(f, args...)) }
