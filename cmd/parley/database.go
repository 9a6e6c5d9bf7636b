package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"

	"parley/cmd/parley/config"
	"parley/store"
	"parley/store/private"
)

// startDatabase finds out where the database is, and runs it when it is ours.
func (s *server) startDatabase(ctx context.Context) error {
	s.databaseURL = s.cfg.DatabaseURL
	if s.databaseURL == "" {
		cluster, err := private.Start(ctx, private.Options{Dir: private.Dir(s.dataDir), Log: s.log})
		if err != nil {
			return advise(err)
		}
		s.databaseURL = cluster.URL()
		s.life.run("database", func(ctx context.Context) error {
			select {
			case <-ctx.Done():
			case <-cluster.Done():
			}
			return cluster.Stop()
		})
	}
	s.health.add("database", s.pingDatabase)
	if err := s.pingDatabase(ctx); err != nil {
		return fmt.Errorf("the database does not answer: %w", err)
	}
	return nil
}

// errNoDatabase: the data directory holds no database.
var errNoDatabase = errors.New("no database")

// findDatabase returns the address of the database of the settings: the configured one, a
// running server's, or the private one, started until stop. It creates none: a command in
// a wrong directory would write where no server looks.
func findDatabase(ctx context.Context, cfg *config.Config, log *slog.Logger) (url string, stop func() error, err error) {
	none := func() error { return nil }
	if cfg.DatabaseURL != "" {
		return cfg.DatabaseURL, none, nil
	}
	dataDir, _ := chooseDataDir(cfg)
	dir := private.Dir(dataDir)
	if url, err = private.Locate(dir); err == nil {
		return url, none, nil
	}
	there, lookErr := private.Exists(dir)
	if errors.Is(err, fs.ErrPermission) || lookErr != nil {
		return "", nil, fmt.Errorf("%s is not ours to read: run this as the account that runs the server, or as root", dir)
	}
	if !there {
		return "", nil, fmt.Errorf("%s has %w: PARLEY_DATA_DIR or PARLEY_DATABASE_URL says where one is, parley serve creates one", dataDir, errNoDatabase)
	}
	cluster, err := private.Start(ctx, private.Options{Dir: dir, Log: log})
	if err != nil {
		return "", nil, advise(err)
	}
	return cluster.URL(), cluster.Stop, nil
}

// pingDatabase opens a connection of its own: it must notice a database that
// refuses new ones.
func (s *server) pingDatabase(ctx context.Context) error {
	conn, err := store.Connect(ctx, s.databaseURL)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return conn.Ping(ctx)
}

// advise adds the way out that only this program knows.
func advise(err error) error {
	switch {
	case errors.Is(err, private.ErrNotInstalled):
		return fmt.Errorf("%w (or set PARLEY_DATABASE_URL)", err)
	case errors.Is(err, private.ErrVersion):
		return fmt.Errorf("%w (to go on with a newer PostgreSQL: parley backup DIR with the old one still installed, move the data directory aside, parley restore DIR)", err)
	case errors.Is(err, private.ErrUnreachable):
		return fmt.Errorf("%w (name a directory that it can reach: PARLEY_DATA_DIR=%s parley serve)", err, config.SystemDataDir)
	}
	return fmt.Errorf("start the private database: %w", err)
}
