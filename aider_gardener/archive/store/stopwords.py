"""The words of a question that say nothing of what it asks for, by the language it is asked in.

A word may say nothing in one language and much in another ("die", "war", "comment"): a list counts only for
questions that hold more of its words than of any other list.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

ACCENTS = re.compile("[\u0300-\u036f]")


def plain(text: str) -> str:
    """A text without accents, as the words of the index are; й loses its breve too."""
    return ACCENTS.sub("", unicodedata.normalize("NFD", text))


ENGLISH = frozenset(
    "a about after all also am an and any are as at be because been before but by can could did do "
    "does done for from get had has have he her here his how i if in into is it its just let like "
    "may me more my no not now of on one only or our out over please she should so some such than "
    "that the their them then there these they this those to too up us very was we were what when "
    "where which while who why will with would you your".split()
)
LEAST_FOUND = 2
"""So many words of a list a question holds at least to be of its language."""
OTHERS = tuple(
    frozenset(plain(words).split())
    for words in (
        # German
        "aber alle als am an auch auf aus bei bin bis bist bitte da dann das dass dein dem den denn der"
        " des die dies diese dieser doch du durch ein eine einem einen einer er es fur gab hab habe haben"
        " hat hatte hatten hier ich ihr im in ins ist ja jetzt kann kein keine man mehr mein mich mir mit"
        " mochte muss nach nicht noch nun nur ob oder ohne schon sein sich sie sind so soll uber um und"
        " uns unser unter vom von vor wann war waren warum was weil welche welchem welchen welcher welches"
        " wenn wer werden wie wieder wieso wir wird wo wurde zu zum zur",
        # Spanish
        "a al algo antes aqui asi aun cada como con cual cuales cuando cuanta cuantas cuanto cuantos de"
        " del desde donde dos el ella ellas ellos en entre era eran es esa esas ese eso esos esta estaba"
        " estan estas este esto estos fue ha habia han hasta hay la las le les lo los mas me mi mis mucho"
        " muy nada ni no nos nuestra nuestro o otra otro para pero por porque que quien se sea ser si sin"
        " sobre son su sus tambien tan te tenia tiene todo todos tu tus un una uno unos y ya yo",
        # French
        "a ai alors apres au aussi aux avait avant avec avez avons bien c ca car ce cela celle celui ces"
        " cet cette chez comme comment d dans de des deux donc du elle elles en encore est et etait ete"
        " etre eu eux fait il ils j je l la le les leur leurs lui m ma mais me mes moi mon n ne nos notre"
        " nous on ont ou par pas peut plus pour pourquoi puis qu quand que quel quelle quelles quels qui"
        " quoi s sa sans se ses si son sont sous sur t ta te tes toi ton tous tout toute tu un une vers"
        " vos votre vous y",
        # Portuguese
        "a ainda ao aos aquela aquele aqui as ate cada com como da das de dela dele depois do dos e ela"
        " elas ele eles em entre era eram essa esse esta estao estava este eu foi foram ha isso isto ja la"
        " lhe mais mas me mesmo meu meus minha muito na nao nas nem no nos nossa nosso num numa o onde os"
        " ou para pela pelas pelo pelos por porque qual quais quando quanto quantos que quem se sem ser"
        " seu seus so sobre sua suas tambem tem teve tinha toda todo todos tu um uma uns voce voces",
        # Italian
        "a ai al alla alle anche c che chi ci come con cosa cui da dal dalla de degli dei del della delle"
        " di dove due e ed era erano fa fino fra gia gli ha hai hanno ho i il in io l la le lei lo loro"
        " lui ma me mi mia mio molto ne nei nel nella no noi non nostra nostro o ogni per perche piu poi"
        " qual quale quali quando quanti quanto quella quelle quello questa queste questi questo qui se"
        " sei si sia sono sta stata stato su sua sul sulla suo ti tra tu tua tuo tutti tutto un una uno vi"
        " voi",
        # Dutch
        "aan al alle als ben bij daar dan dat de deze die dit doen door dus een eerst en er even ging had"
        " hadden heb hebben heeft hem het hij hoe hoeveel hun ik in is ja je jij jullie kan kon kunnen"
        " maar me meer met mij mijn moet na naar niet nog nu of om omdat onder ons onze ook op over te"
        " tegen toch toen tot u uit van veel voor waar waarom wanneer want waren was wat we wel welk welke"
        " wie wij wil worden wordt zal ze zei zich zij zijn zo zou",
        # Polish
        "a ale bo by byc byl byla bylo byly co czego czemu czy dla dlaczego do gdy gdzie go i ich ile im"
        " ja jak jaka jaki jakie jako jego jej jest jestem juz kiedy kto ktora ktore ktory ma mam masz mi"
        " mial mialo mnie moj moja moze my na nad nam nas nasz nie niz o od on ona one oni ono oraz po pod"
        " przed przez przy sa sie ta tak takze tam te tego tej ten to tu ty tym w wam was we wiec wszystko"
        " wy z za ze",
        # Turkish
        "acaba ama ancak bana bazi belki ben beni benim bir biraz biz bize bizim bu buna bunu cok cunku"
        " da daha de degil diye en gibi hangi hem hep hepsi her hic icin ile ise kac kadar kendi ki kim mi"
        " mu nasil ne neden nedir nerede nereden niye o olan olarak oldu on ona onu sana sen senin siz su"
        " ve veya ya yani",
        # Russian
        "а без бы был была были было быть в вам вас ведь во вот все всё вы где да для до его ее её если"
        " есть еще ещё же за зачем и из или им их к как какая какие какой какую кем когда кого которая"
        " которые который кто куда ли мне мой моя мы на над нам нас не него нее нет ни но ну о об он она"
        " они оно от перед по под почему при с сам свой себя сколько со так такой там те тем то того тоже"
        " только том ты у уже чего чем через что чтобы эта эти это этого этой этом этот я",
    )
)


def stop_words(asked: Collection[str]) -> frozenset[str]:
    """What says nothing in a question of these words: the English list, with that of another language where
    the question is in it."""
    held = set(asked)
    english = len(held & ENGLISH)
    found, best = max(((len(held & words), words) for words in OTHERS), key=lambda pair: pair[0])
    return ENGLISH | best if found >= LEAST_FOUND and found > english else ENGLISH
