-- The tables of the gardener's in a database, made once by `schema.prepare`; {space} is where pgvector lies.
--
-- An archive is its lines. It is shared with its members, or whole: the copy of one, its creator's alone.
-- Members read its lines, and its owners (may_write) write and delete lines of their own. The role that made
-- the tables is not bound by that.

CREATE SCHEMA gardener;

CREATE TABLE gardener.about (server text NOT NULL, version int NOT NULL);

CREATE TABLE gardener.archives (
    number int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL, creator text NOT NULL,
    whole boolean NOT NULL, UNIQUE (creator, name, whole));

CREATE TABLE gardener.members (
    archive int NOT NULL REFERENCES gardener.archives ON DELETE CASCADE, member text NOT NULL,
    may_write boolean NOT NULL, PRIMARY KEY (archive, member));

CREATE SEQUENCE gardener.changes;

-- `payload` is a record as JSON in bytes: texts keep no lone surrogate. `once` is what a line is known by, so that
-- none is there twice; `machine` tells an author's archives apart; `hash` is that of the text that was said,
-- `session` where. `words` are those that it is found by. Keys begin with what tells lines apart: without statistics
-- the planner takes any that fits.
CREATE TABLE gardener.lines (
    change bigint PRIMARY KEY, archive int NOT NULL REFERENCES gardener.archives ON DELETE CASCADE,
    author text NOT NULL DEFAULT session_user, machine text NOT NULL, kind text NOT NULL,
    once text, session text, hash text, at float8 NOT NULL, payload bytea NOT NULL, words tsvector,
    UNIQUE (once, archive, author));

CREATE INDEX lines_by_change ON gardener.lines (archive, change);
CREATE INDEX lines_by_hash ON gardener.lines (hash, archive, author);
CREATE INDEX lines_by_session ON gardener.lines (session, archive, author);
CREATE INDEX lines_by_words ON gardener.lines USING gin (words);

CREATE TABLE gardener.passages (
    archive int NOT NULL REFERENCES gardener.archives ON DELETE CASCADE,
    author text NOT NULL DEFAULT session_user, hash text NOT NULL, "start" int NOT NULL,
    "end" int NOT NULL, embedder text NOT NULL, dimensions int NOT NULL, vector {space}.vector NOT NULL,
    PRIMARY KEY (hash, archive, author, "start", "end", embedder));

CREATE INDEX passages_of_384 ON gardener.passages
    USING hnsw ((vector::{space}.vector(384)) {space}.vector_ip_ops) WHERE dimensions = 384;

CREATE INDEX passages_of_512 ON gardener.passages
    USING hnsw ((vector::{space}.vector(512)) {space}.vector_ip_ops) WHERE dimensions = 512;

-- A line comes in under its archive's lock, so that `change` grows in the order of commits. One that forgets
-- deletes what it names of its author's, said up to its time, and keeps out what comes late.
CREATE FUNCTION gardener.come() RETURNS trigger LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
    BEGIN
        PERFORM pg_advisory_xact_lock({lock}, new.archive);
        new.change := nextval('gardener.changes');
        IF new.kind LIKE 'forget%' THEN
            DELETE FROM gardener.lines l WHERE l.archive = new.archive AND l.author = new.author
            AND (new.kind = 'forget all' OR l.kind NOT LIKE 'forget%'
                 AND l.at <= new.at AND (l.hash = new.hash OR l.session = new.session));
        ELSIF EXISTS (
            SELECT FROM gardener.lines l WHERE l.archive = new.archive AND l.author = new.author
            AND (l.kind, l.hash) = ('forget', new.hash) AND l.at >= new.at UNION ALL
            SELECT FROM gardener.lines l WHERE l.archive = new.archive AND l.author = new.author
            AND (l.kind, l.session) = ('forget session', new.session) AND l.at >= new.at) THEN
            RETURN NULL;
        END IF;
        RETURN new;
    END $$;

CREATE FUNCTION gardener.gone() RETURNS trigger LANGUAGE plpgsql
    SET search_path = pg_catalog, pg_temp AS $$
    BEGIN
        DELETE FROM gardener.passages p
        WHERE p.archive = old.archive AND p.author = old.author AND p.hash = old.hash
        AND NOT EXISTS (SELECT FROM gardener.lines l WHERE l.archive = old.archive
            AND l.author = old.author AND l.hash = old.hash AND l.kind NOT LIKE 'forget%');
        RETURN NULL;
    END $$;

CREATE TRIGGER come BEFORE INSERT ON gardener.lines
    FOR EACH ROW EXECUTE FUNCTION gardener.come();

CREATE TRIGGER gone AFTER DELETE ON gardener.lines
    FOR EACH ROW WHEN (old.hash IS NOT NULL) EXECUTE FUNCTION gardener.gone();

-- The archives that the role may read, or may write to.
CREATE FUNCTION gardener.open_to_role(to_write boolean) RETURNS SETOF int LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
    SELECT m.archive FROM gardener.members m JOIN pg_roles r ON r.rolname = m.member
    WHERE (m.may_write OR NOT to_write) AND pg_has_role(session_user, r.oid, 'MEMBER') $$;

CREATE FUNCTION gardener.make_archive(wanted text, is_whole boolean) RETURNS int
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    DECLARE made int;
    BEGIN
        INSERT INTO gardener.archives (name, creator, whole) VALUES (wanted, session_user, is_whole)
        RETURNING number INTO made;
        INSERT INTO gardener.members VALUES (made, session_user, true);
        RETURN made;
    END $$;

-- Makes a role an owner, a reader, or no member (null).
-- Who changes the members holds the archive's row, so that two owners cannot remove each other at once; roles
-- that the server no longer has are no owners.
CREATE FUNCTION gardener.set_member(wanted int, role text, writes boolean) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    DECLARE found_archive gardener.archives;
    BEGIN
        SELECT * INTO found_archive FROM gardener.archives WHERE number = wanted FOR UPDATE;
        IF found_archive.whole OR wanted NOT IN (SELECT gardener.open_to_role(true)) THEN
            RAISE insufficient_privilege USING
                MESSAGE = 'only an owner of the project admits others, or takes their access away';
        END IF;
        IF writes IS NOT TRUE AND role <> session_user AND role = found_archive.creator THEN
            RAISE insufficient_privilege USING
                MESSAGE = format('%s made the project, and stays its owner', role);
        END IF;
        IF writes IS NULL THEN
            DELETE FROM gardener.members WHERE archive = wanted AND member = role;
            IF NOT FOUND THEN
                RAISE invalid_parameter_value USING
                    MESSAGE = format('%s is no member of the project by that name', role);
            END IF;
        ELSIF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role) THEN
            RAISE invalid_parameter_value USING MESSAGE = format('there is no role %s', role);
        ELSE
            INSERT INTO gardener.members VALUES (wanted, role, writes)
            ON CONFLICT (archive, member) DO UPDATE SET may_write = excluded.may_write;
        END IF;
        IF NOT EXISTS (SELECT FROM gardener.members m JOIN pg_roles r ON r.rolname = m.member
                       WHERE m.archive = wanted AND m.may_write) THEN
            RAISE insufficient_privilege USING
                MESSAGE = 'the last owner of a project stays: make another role an owner first';
        END IF;
    END $$;

-- Words and vectors are searched by functions that look at the membership themselves, because under row-level
-- security no index would be used.
CREATE FUNCTION gardener.find_words(asked tsquery, among int, most int)
    RETURNS TABLE (archive int, author text, hash text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT l.archive, l.author, l.hash FROM (
        SELECT * FROM gardener.lines f
        WHERE f.words @@ asked AND f.archive = ANY (ARRAY(SELECT gardener.open_to_role(false))) LIMIT among) l
    GROUP BY 1, 2, 3 ORDER BY max(ts_rank(l.words, asked)) DESC, 3 LIMIT most $$;

CREATE FUNCTION gardener.find_near(asked text, wanted text, length int, most int)
    RETURNS TABLE (archive int, author text, hash text, "start" int, "end" int, distance float8)
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    SET hnsw.iterative_scan = 'relaxed_order' AS $$
    BEGIN
        RETURN QUERY EXECUTE format(
            'SELECT p.archive, p.author, p.hash, p."start", p."end",
                    ((p.vector::{space}.vector(%1$s)) OPERATOR({space}.<#>) $1::{space}.vector(%1$s))::float8
             FROM gardener.passages p
             WHERE p.dimensions = %1$s AND p.embedder = $2 AND p.archive = ANY ($3)
             ORDER BY (p.vector::{space}.vector(%1$s)) OPERATOR({space}.<#>) $1::{space}.vector(%1$s) LIMIT $4',
            length) USING asked, wanted, ARRAY(SELECT gardener.open_to_role(false)), most;
    END $$;

-- Who reads an archive sees its rows; an owner writes and deletes rows of its own name.
DO $$ DECLARE each text; BEGIN
    FOREACH each IN ARRAY '{lines,passages}'::text[] LOOP
        EXECUTE format('
            CREATE POLICY write ON gardener.%1$I FOR INSERT WITH CHECK (
                author = session_user AND archive = ANY (ARRAY(SELECT gardener.open_to_role(true))));
            CREATE POLICY forget ON gardener.%1$I FOR DELETE USING (
                author = session_user AND archive = ANY (ARRAY(SELECT gardener.open_to_role(true))));
            GRANT INSERT, DELETE ON gardener.%1$I TO PUBLIC', each);
    END LOOP;
    FOREACH each IN ARRAY '{archives,members,lines,passages}'::text[] LOOP
        EXECUTE format('
            ALTER TABLE gardener.%1$I ENABLE ROW LEVEL SECURITY;
            CREATE POLICY read ON gardener.%1$I FOR SELECT USING (
                %2$I = ANY (ARRAY(SELECT gardener.open_to_role(false))))',
            each, CASE each WHEN 'archives' THEN 'number' ELSE 'archive' END);
    END LOOP;
END $$;

CREATE POLICY remove ON gardener.archives FOR DELETE USING (whole AND creator = session_user);
GRANT DELETE ON gardener.archives TO PUBLIC;
GRANT USAGE ON SCHEMA gardener TO PUBLIC;
GRANT SELECT ON ALL TABLES IN SCHEMA gardener TO PUBLIC;
GRANT USAGE, SELECT ON SEQUENCE gardener.changes TO PUBLIC;
