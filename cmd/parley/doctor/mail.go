package doctor

import (
	"context"
	"time"

	"parley/cmd/parley/config"
	"parley/store/mail"
)

// mailPatience is how long a mail server may take to let us in.
const mailPatience = 15 * time.Second

// checkMail logs in to the mail server, if there is one, and sends nothing.
func checkMail(ctx context.Context, cfg *config.Config) Finding {
	if cfg.SMTPURL == "" {
		return good("off: warnings are not mailed (PARLEY_SMTP_URL)")
	}
	server, err := mail.Parse(cfg.SMTPURL)
	if err != nil {
		return fail("set PARLEY_SMTP_URL", "%v", err)
	}
	ctx, cancel := context.WithTimeout(ctx, mailPatience)
	defer cancel()
	if err := server.Check(ctx); err != nil {
		return warn("check host, port, user and password of PARLEY_SMTP_URL", "%s does not let us in: %v", server, err)
	}
	return good("%s takes mail, from %s", server, server.From())
}
