"""Sentences as people type them into a coding chat, by hand: those that set a rule, and those that only look so."""

from __future__ import annotations

RULES = """
Don't touch the migrations folder.
please don't rename public functions
Never commit directly to main.
You must never log card numbers.
Always run the linter before you hand over a change.
Use tabs, not spaces.
use pnpm instead of npm
From now on answer in English only.
Keep the public API backwards compatible.
Make sure every new endpoint has a test.
and no new dependencies please
No global state anywhere.
All timestamps must be UTC.
Amounts must be integers in cents.
The service has to run on Python 3.8.
We never use floats for money.
we don't allow raw SQL outside of repository.py
I don't want any comments in the generated code.
Only touch files below src/billing.
Stick to the standard library.
Avoid recursion in the parser, inputs can be deep.
config.legacy.yml is off-limits.
The old endpoint stays as it is until the app is updated.
Leave the vendor directory alone.
nobody else may write to that table
No edits until I say so.
Ask me first, nothing goes to production without my ok.
Going forward, write commit messages in the imperative.
for the rest of this session use the staging database
you shouldn't change the wire format, old clients depend on it
Prefer composition over inheritance.
I'd rather have explicit loops than clever comprehensions.
ensure that the retry count never exceeds 5
Under no circumstances print the token.
Remember that the box has only 512 MB.
Every query must use bound parameters.
ok but don't add logging there, it is a hot path
The exporter may not block the event loop.
Response bodies shall not contain stack traces.
hands off the generated protobuf files
Don't forget to update the changelog with each change.
We always name test files test_<module>.py.
Could you please always show the full diff?
tests must pass on Windows too
Write plain ES modules, never CommonJS.
use only the logging module, no print
the schema is frozen until the audit is over
whenever you add a setting, document it in docs/settings.md
the header must come first, the checksum last
Error codes must not change.
important: keep the order of the columns
As a rule we cap retries at three.
no default exports
Please follow our naming scheme for metrics.
Strings shown to users must be translated, no exceptions.
Ab jetzt bitte nur noch deutsche Kommentare.
Ändere die Datenbank nicht ohne Rückfrage.
Bitte keine neuen Abhängigkeiten.
Verwende tabs statt Leerzeichen.
Beträge dürfen nie als Float gespeichert werden.
Achte darauf, dass alle Tests grün bleiben.
Die alte Schnittstelle muss erhalten bleiben, sie muss stabil sein.
Lösch niemals Zeilen aus der Tabelle buchungen.
Ne touche pas aux migrations.
N'utilise jamais de flottants pour les montants.
À partir de maintenant, écris les messages en français.
Utilise des tabulations au lieu d'espaces.
Il faut que tous les tests passent.
Assure-toi que l'API reste compatible.
No cambies la interfaz pública.
Nunca guardes contraseñas en texto plano.
A partir de ahora usa pnpm en lugar de npm.
Siempre escribe pruebas para cada función nueva.
Hay que mantener la compatibilidad con Node 18.
不要修改数据库结构。
所有金额必须使用整数分。
从现在开始请用中文回答。
使用 pnpm 而不是 npm。
禁止在日志中输出密码。
公開APIは変更しないでください。
必ずテストを書いてください。
今後はTypeScriptのみ使用してください。
floatではなくDecimalを使ってください。
""".strip().splitlines()

OTHERS = """
I don't know why this fails.
Don't worry about it, I'll fix that myself.
don't you think that's too slow?
It doesn't work on my machine.
The job is never picked up by the worker.
it always fails on the second run
That must be a race condition.
It must have been the cache.
must be the firewall then
I must say that looks good.
Why must we call flush twice?
Do we always have to restart after that?
Should I never use eval?
never mind, found it
keep going
Keep me posted.
no idea
No problem, take your time.
no errors in the log since yesterday
no, the other one
No tests ran?
Fix the failing test in test_api.py.
Add a --verbose flag to the command.
what does the parser do with empty lines
The test suite takes 40 seconds now.
I ran it again and got the same error.
Can you explain how the cache works?
could you add a retry there
the docs say `never call this twice`, is that still true?
The error was "value must be a string".
It says that the name must not be empty, but it isn't.
I never understood that function.
We have to find out who calls it.
I have to go now, thanks.
looks good, commit it
yes
do 1 and 3
go with option b
The endpoint returns 404 when the user is missing.
rename it to fetch_all and move it to util.py
it seems that the lock is never released
he told me the limit must never be reached
Since the update we always get a timeout.
the build is green again
I don't see the difference.
we don't have a staging server
I think we always did that wrong.
They don't answer my mails.
don't commit yet
Not now.
Why don't we just use a queue?
don't know, try it
What happens if the file must be read twice?
and then it stops without any message
The old parser was faster.
Can we use a dict instead of a list here?
is it possible to keep both?
That's the only file that uses it.
You can always ask the database.
I wonder whether it must be sorted.
Remember the bug from last week?
show me all the places where we use float
it has to do with the encoding I guess
next, the report
the number of rows must have grown
Das funktioniert nicht.
Warum geht das nie?
Ich muss gleich los.
Der Fehler tritt immer beim Start auf.
Ça ne marche pas.
Je ne sais pas pourquoi.
C'est toujours pareil.
No funciona en mi máquina.
Siempre falla en el segundo intento.
No sé qué pasa aquí.
这个函数为什么不能工作?
测试没有通过。
必须要吗?
なぜ動かないのですか？
テストが失敗しました。
""".strip().splitlines()
