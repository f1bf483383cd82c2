"""Twenty passages as they stand in chats (logs, code, tool output), each with a question in five languages.

Hand-made: no question repeats a name, path or number of its passage, unless people would type it in any
language.
"""

from __future__ import annotations

LANGUAGES = ("English", "German", "Spanish", "Chinese", "Japanese")

PASSAGES: tuple[tuple[str, tuple[str, str, str, str, str]], ...] = (
    (
        "2024-03-02 11:04:18 ERROR pool exhausted: 20 of 20 connections in use, waited 30000 ms\n"
        "2024-03-02 11:04:18 WARN  request aborted",
        (
            "Why could no database connection be obtained?",
            "Warum gab es keine freie Datenbankverbindung mehr?",
            "¿Por qué no quedaban conexiones libres a la base de datos?",
            "为什么拿不到数据库连接？",
            "なぜデータベース接続を取得できなかったのですか？",
        ),
    ),
    (
        "def backoff(attempt: int) -> float:\n    return min(60.0, 0.5 * 2 ** attempt) + random.random()",
        (
            "How long do we wait before trying again?",
            "Wie lange warten wir, bevor wir es noch einmal versuchen?",
            "¿Cuánto tiempo esperamos antes de volver a intentarlo?",
            "重试之前要等多久？",
            "再試行までどのくらい待ちますか？",
        ),
    ),
    (
        "E   AssertionError: assert Decimal('19.99') == Decimal('20.00')\n"
        "tests/test_invoice.py:88: AssertionError",
        (
            "Which test fails because a price is rounded wrongly?",
            "Welcher Test scheitert, weil ein Preis falsch gerundet wird?",
            "¿Qué prueba falla porque un precio se redondea mal?",
            "哪个测试因为价格四舍五入错误而失败？",
            "価格の丸めが間違っていて失敗するテストはどれですか？",
        ),
    ),
    (
        "kernel: Out of memory: Killed process 4121 (worker) total-vm:8123412kB, anon-rss:7712340kB",
        (
            "What ended the worker process?",
            "Wodurch wurde der Arbeitsprozess beendet?",
            "¿Qué terminó el proceso de trabajo?",
            "工作进程是被什么终止的？",
            "ワーカープロセスは何によって終了しましたか？",
        ),
    ),
    (
        "server {\n  listen 443 ssl;\n  ssl_certificate /etc/ssl/site.pem;\n  client_max_body_size 10m;\n}",
        (
            "How large may an upload be?",
            "Wie groß darf eine hochgeladene Datei sein?",
            "¿Qué tamaño máximo puede tener un archivo subido?",
            "上传的文件最大可以多大？",
            "アップロードできるファイルの最大サイズは？",
        ),
    ),
    (
        "ssl.SSLCertVerificationError: certificate verify failed: certificate has expired (_ssl.c:1007)",
        (
            "Why is the encrypted connection refused?",
            "Warum wird die verschlüsselte Verbindung abgelehnt?",
            "¿Por qué se rechaza la conexión cifrada?",
            "为什么加密连接被拒绝？",
            "暗号化された接続が拒否されるのはなぜですか？",
        ),
    ),
    (
        "CREATE INDEX CONCURRENTLY idx_orders_customer ON orders (customer_id, created_at DESC);",
        (
            "How did we make looking up a customer's purchases faster?",
            "Wie haben wir die Suche nach den Bestellungen eines Kunden beschleunigt?",
            "¿Cómo aceleramos la búsqueda de los pedidos de un cliente?",
            "我们怎样加快查询客户订单的速度？",
            "顧客の注文の検索をどうやって速くしましたか？",
        ),
    ),
    (
        "class SessionCache:\n"
        "    def evict(self) -> None:\n        oldest = min(self._items, key=self._used.get)\n"
        "        del self._items[oldest]",
        (
            "Which entry is thrown out when the cache is full?",
            "Welcher Eintrag fliegt raus, wenn der Zwischenspeicher voll ist?",
            "¿Qué entrada se elimina cuando la caché está llena?",
            "缓存满了会删除哪一项？",
            "キャッシュがいっぱいになるとどの項目が捨てられますか？",
        ),
    ),
    (
        'npm ERR! peer react@"^17.0.0" from react-table@7.8.0\nnpm ERR! Could not resolve dependency',
        (
            "Why can the packages not be installed?",
            "Warum lassen sich die Pakete nicht installieren?",
            "¿Por qué no se pueden instalar los paquetes?",
            "为什么无法安装依赖包？",
            "パッケージをインストールできないのはなぜですか？",
        ),
    ),
    (
        "INFO  migration 0042_drop_legacy_users applied in 3.2 s\nINFO  1,204,331 rows moved to users_v2",
        (
            "How many user records were moved?",
            "Wie viele Benutzerdatensätze wurden verschoben?",
            "¿Cuántos registros de usuarios se movieron?",
            "迁移了多少条用户记录？",
            "何件のユーザーレコードが移動されましたか？",
        ),
    ),
    (
        "def hash_password(plain: str) -> str:\n"
        "    return bcrypt.hashpw(plain.encode(), bcrypt.gensalt(rounds=12)).decode()",
        (
            "How are passwords kept safe?",
            "Wie werden Passwörter sicher gespeichert?",
            "¿Cómo se guardan las contraseñas de forma segura?",
            "密码是怎样安全保存的？",
            "パスワードはどのように安全に保存されていますか？",
        ),
    ),
    (
        "fatal: refusing to merge unrelated histories",
        (
            "What did version control say when we joined the two repositories?",
            "Was meldete die Versionsverwaltung, als wir die zwei Repositories zusammenführten?",
            "¿Qué dijo el control de versiones al unir los dos repositorios?",
            "合并两个仓库时版本控制报了什么？",
            "二つのリポジトリを統合したとき、バージョン管理は何と言いましたか？",
        ),
    ),
    (
        "@app.get('/health')\n"
        "def health():\n    return {'status': 'ok', 'queue': len(queue), 'uptime': time.time() - START}",
        (
            "Where can one see whether the service is alive?",
            "Wo sieht man, ob der Dienst noch läuft?",
            "¿Dónde se ve si el servicio sigue funcionando?",
            "在哪里可以看到服务是否正常运行？",
            "サービスが動いているかどこで確認できますか？",
        ),
    ),
    (
        "WARNING: disk usage on /var at 97% (free: 1.1G), log rotation failed: permission denied",
        (
            "Why are we running out of storage space?",
            "Warum geht uns der Speicherplatz aus?",
            "¿Por qué nos quedamos sin espacio de almacenamiento?",
            "为什么存储空间快用完了？",
            "なぜ保存容量が足りなくなっているのですか？",
        ),
    ),
    (
        "const debounced = useMemo(() => debounce(search, 300), [search]);",
        (
            "How do we keep typing from sending too many requests?",
            "Wie verhindern wir zu viele Anfragen beim Tippen?",
            "¿Cómo evitamos demasiadas peticiones al escribir?",
            "怎样避免输入时发送太多请求？",
            "入力中にリクエストを送りすぎないようにするには？",
        ),
    ),
    (
        "TimeoutError: deadline of 5.0s exceeded calling payments.charge(order=8812)",
        (
            "Which call took too long?",
            "Welcher Aufruf hat zu lange gedauert?",
            "¿Qué llamada tardó demasiado?",
            "哪个调用耗时太久？",
            "どの呼び出しに時間がかかりすぎましたか？",
        ),
    ),
    (
        "schedule:\n  - cron: '30 2 * * 0'\njobs:\n  backup:\n    run: pg_dump app | gzip > backup.sql.gz",
        (
            "When is the database backed up?",
            "Wann wird die Datenbank gesichert?",
            "¿Cuándo se hace la copia de seguridad de la base de datos?",
            "数据库什么时候备份？",
            "データベースのバックアップはいつ行われますか？",
        ),
    ),
    (
        "panic: runtime error: index out of range [3] with length 3\ngoroutine 18: main.parseRow(csv.go:57)",
        (
            "Where does reading the table crash?",
            "Wo stürzt das Einlesen der Tabelle ab?",
            "¿Dónde falla la lectura de la tabla?",
            "读取表格时在哪里崩溃？",
            "表の読み込みはどこでクラッシュしますか？",
        ),
    ),
    (
        "if user.role not in ('admin', 'editor'):\n    raise Forbidden('only staff may publish articles')",
        (
            "Who is allowed to publish?",
            "Wer darf veröffentlichen?",
            "¿Quién puede publicar?",
            "谁有权发布文章？",
            "誰が公開を許可されていますか？",
        ),
    ),
    (
        "FROM python:3.12-slim\nRUN apt-get update && apt-get install -y libpq5\nUSER nobody",
        (
            "Under which account does the container run?",
            "Unter welchem Konto läuft der Container?",
            "¿Con qué cuenta se ejecuta el contenedor?",
            "容器以哪个账户运行？",
            "コンテナはどのアカウントで動きますか？",
        ),
    ),
)
