-- All instances run this at their start; the lock lets them do so one after the other.
SELECT pg_advisory_xact_lock(5150);

CREATE TABLE IF NOT EXISTS orders (
	instance text NOT NULL,
	began timestamptz NOT NULL,
	ended timestamptz NOT NULL
);

-- How long the database works on an order. It has one row.
CREATE TABLE IF NOT EXISTS pace (milliseconds integer NOT NULL);
INSERT INTO pace SELECT 50 WHERE NOT EXISTS (SELECT FROM pace);
